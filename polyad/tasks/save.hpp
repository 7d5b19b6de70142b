#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "polyad/io/tensors/write_options.hpp"
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

// Writes an HTML report that needs nothing else: no network, no script. Collective.
void save_report(const Context& context, const CpModel& model, const std::filesystem::path& path,
                 Index entries_per_mode = 5);

// Writes a text, such as the JSON of a result, by process 0. The file appears under its name when it is
// complete. Collective.
void save_text(const Context& context, const std::string& text, const std::filesystem::path& path);

}  // namespace polyad
