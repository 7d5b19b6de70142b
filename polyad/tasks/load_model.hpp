#pragma once

#include <filesystem>

#include "polyad/tasks/completion_model.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/cp_model.hpp"
#include "polyad/tasks/load.hpp"

namespace polyad {

// Reads a CP model of any format that `save` writes, from Polyad or from another program, with its labels; or
// a recommender's model as `polyad complete --out` writes it, whose last two components are the biases.
// Columns of factors are as in the file. The fit and the other figures of the decomposition are those in
// summary.json, where the model has one: see CpModel::fit. Every process reads the whole model. Warnings are
// messages of the context. Throws Error{bad_input} with file and line for a file that is no model, Error{io}
// where it cannot be read. Collective.
CpModel load_model(const Context& context, const std::filesystem::path& path,
                   const LabelSources& labels = {});

// A model of ratings as load_model reads it from files: for `predict`. Every process gets all of it.
// Collective.
CpModel cp_model_of(const Context& context, const CompletionModel& model);

// Reads a model of ratings, adds the items in a file to it (add_items_from), and is the result of
// cp_model_of. Throws Error{bad_option} for a CP model, and for labels other than those of the model.
// Collective.
CpModel load_with_items(const Context& context, const std::filesystem::path& model,
                        const std::filesystem::path& new_items, const LabelSources& labels = {});

}  // namespace polyad
