#pragma once

#include <string>
#include <vector>

#include "polyad/io/models/label_files.hpp"
#include "polyad/io/tensors/slab.hpp"
#include "polyad/tasks/detail/source_files.hpp"
#include "polyad/tasks/load.hpp"

namespace polyad::tasks {

// What has labels: a tensor or a model, with its dims and the labels that it carries itself.
struct Labelled {
  std::string kind;  // "tensor"
  io::LabelPlace place;
  std::vector<Index> extents;
  std::vector<ModeLabels> labels;  // one per mode
};

// The labels to use instead of its own: those that the sources name, else those in its label files where it
// has none. Entries are empty where there is nothing better.
io::FoundLabels find_labels(const Labelled& owner, const LabelSources& sources);

// The same for a tensor that was read from these files, added to it; sets its path. Several files have no
// labels beside them but those of their folder: their indices may mean different things, so that is an error.
// Returns notes on where labels come from.
std::vector<std::string> add_labels(Tensor& x, const SourceFiles& source, const LabelSources& sources);

// Shows what a reader noted as warnings, and what add_labels returned as notes. The notes of the tensor name
// options as the context does then.
void tell_notes(const Context& context, Tensor& x, const std::vector<std::string>& label_notes);

// All label files that a tensor, or the owner at a path, may take labels from.
std::vector<std::filesystem::path> label_files_for(const std::filesystem::path& path,
                                                   const LabelSources& sources);
std::vector<std::filesystem::path> label_files_for(const SourceFiles& source, const LabelSources& sources);

// What the options of loading mean to the readers. Throws Error{bad_option}.
io::ReadOptions read_options(const LoadOptions& options);
// The same for a file of coordinates of a model.
io::ReadOptions read_options(const LoadOptions& options, const io::IndexSpace& space);

}  // namespace polyad::tasks
