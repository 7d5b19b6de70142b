#pragma once

#include <filesystem>

#include "polyad/tasks/context.hpp"
#include "polyad/tasks/cp_model.hpp"
#include "polyad/tasks/tensor.hpp"

namespace polyad {

// Writes a model with its labels: a directory as SPLATT writes it, a file x.ktensor (Tensor Toolbox, pyttb,
// GenTen), or x.npz (NumPy). A model that is there is replaced in one step, when the new one is complete.
// Process 0 writes, and reads the rows of the others in blocks. Throws Error{bad_option} for other names,
// Error{io} and Error{resource} where it cannot be written. Collective.
void save(const Context& context, const CpModel& model, const std::filesystem::path& path);

// Throws the error that saving a model of so many components would end in, as far as it can be known before
// the decomposition: a bad name, a directory that cannot be written, labels of another tensor in the way, a
// disk that is too full. Collective.
void check_output(const Context& context, const Tensor& x, Index rank, const std::filesystem::path& path);

// Writes an HTML report that needs nothing else: no network, no script. Collective.
void save_report(const Context& context, const CpModel& model, const std::filesystem::path& path,
                 Index entries_per_mode = 5);

}  // namespace polyad
