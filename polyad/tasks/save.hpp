#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "polyad/io/bytes/existing.hpp"
#include "polyad/io/tensors/write_options.hpp"
#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/completion_model.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/cp_model.hpp"
#include "polyad/tasks/tensor.hpp"

namespace polyad {

// How a tensor is written: format, compression, and what happens to a file that exists.
using SaveOptions = io::WriteOptions;

// Writes a tensor with its labels: inside the file where its format holds labels, otherwise in files beside
// it, which are returned. Throws Error{bad_option} for a name or format that cannot hold the tensor and where
// labels of another tensor lie beside the file, Error{io} and Error{resource} where it cannot be written.
// Process 0 writes, and holds all nonzeros meanwhile. Collective.
std::vector<std::filesystem::path> save(const Context& context, const Tensor& x,
                                        const std::filesystem::path& path, const SaveOptions& options = {});

// Writes a model with its labels: a directory as SPLATT writes it, a file x.ktensor (Tensor Toolbox, pyttb,
// GenTen), or x.npz (NumPy). A model that is there is replaced in one step, when the new one is complete.
// Process 0 writes, and reads the rows of the others in blocks. Throws Error{bad_option} for other names,
// Error{io} and Error{resource} where it cannot be written. Collective.
void save(const Context& context, const CpModel& model, const std::filesystem::path& path);

// Throws the error that saving a model of so many components would end in, as far as it can be known before
// the decomposition: a bad name, a directory that cannot be written, labels of another tensor in the way, a
// disk that is too full. Collective.
void check_output(const Context& context, const Tensor& x, Index rank, const std::filesystem::path& path);

// Throws the error that writing a model under this name would end in, whatever the model: a bad name, a
// directory that cannot be written, something else than a model in the way, or a model that may not be
// replaced.
void check_model_place(const std::filesystem::path& path, Existing existing = Existing::replaced);

// Writes an HTML report that needs nothing else: no network, no script. Throws Error{bad_option} for a model
// that was loaded. Collective.
void save_report(const Context& context, const CpModel& model, const std::filesystem::path& path,
                 Index entries_per_mode = 5);

// Writes a text, such as the JSON of a result, by process 0. The file appears under its name when it is
// complete. Collective.
void save_text(const Context& context, const std::string& text, const std::filesystem::path& path);

// Writes a model of ratings as a directory: model.npz (factors, biases and what training needs to go on),
// training.ptb (the ratings that it was trained on) and label files. A model of ratings that is there is
// replaced in one step, when the new one is complete. Process 0 writes, and holds the whole model meanwhile.
// Throws Error{bad_option} when the directory holds a model of another kind, Error{io} and Error{resource}
// where it cannot be written. Collective.
void save(const Context& context, const CompletionModel& model, const std::filesystem::path& directory);

// Throws the error that saving a model of these ratings would end in, as far as it can be known before the
// training: a directory that cannot be written, labels that are not one for each user and item, a disk that
// is too full. Collective.
void check_output(const Context& context, const Tensor& ratings, const CompleteOptions& options,
                  const std::filesystem::path& directory);

// Writes an HTML report on a model of ratings, and on the run that trained it: throws Error{bad_option} for a
// model that was read from files. It needs nothing else: no network, no script. Collective.
void save_report(const Context& context, const CompletionModel& model, const std::filesystem::path& path);

}  // namespace polyad
