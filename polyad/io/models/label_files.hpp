#pragma once

#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::io {

// Where the label files of a tensor or a model are. Those of a file have its
// name without the extension: x.mode-1-team.map[.gz] belongs to x.tns, x.tns.gz
// and x.bin. A model that is a folder contains them, as mode-1-team.map[.gz].
struct LabelPlace {
  enum class Owner { tensor, model_file, model_folder };

  Owner owner = Owner::tensor;
  std::filesystem::path folder;
  std::filesystem::path file;  // the file of the owner; empty for a folder

  std::string prefix() const;  // "x." for x.tns.gz, "" for a folder
};
LabelPlace labels_of_tensor(const std::filesystem::path& tensor);
LabelPlace labels_of_model_file(const std::filesystem::path& model);
LabelPlace labels_of_model_folder(const std::filesystem::path& folder);

// Reads a label file: line i names index i (from 0 here). The name of the mode is taken
// from the name of the file, [x.]mode-<k>-<name>.map[.gz], if it has this form. Throws
// Error{bad_input} if the labels would take much more memory than the file on disk.
struct LabelFile {
  ModeLabels labels;
  bool has_more = false;  // lines beyond the maximum that was read
};
LabelFile read_labels(const std::filesystem::path& path, Index maximum = std::numeric_limits<Index>::max());
// Maximum number of labels that are read for a mode: twice its extent.
Index max_labels(Index extent);

// Whether a name without prefix is that of a label file, mode-<k>[-<name>].map[.gz].
bool is_label_file(const std::filesystem::path& path);
// Whether a file of this name next to the owner may be its label file: it has its prefix, or none.
bool may_be_labels(const LabelPlace& place, const std::filesystem::path& name);
// All such files that exist, by name.
std::vector<std::filesystem::path> label_files_at(const LabelPlace& place);

// The labels of an owner: one entry per mode, empty if there are none. Files with its
// name come first; if several match a mode, the first by name is used. Files without a
// prefix next to a tensor (or a model that is a file) are used if it is the only one
// in its folder and they are not shorter than the mode. Modes of extent 0 are skipped.
struct FoundLabels {
  std::vector<ModeLabels> labels;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  // files used or ignored, unless named after the tensor
};
FoundLabels find_labels(const LabelPlace& place, std::span<const Index> extents);
// The same from all files without a prefix in a folder that
// the user names. Throws Error{bad_option} if there are none.
FoundLabels find_labels_in(const std::filesystem::path& folder, std::span<const Index> extents);

// Throws Error{bad_option} if other label files for the owner exist, which would be taken for its own.
void check_label_files(const LabelPlace& place, std::span<const ModeLabels> labels);
// Writes a label file for every mode with labels, and returns their paths.
std::vector<std::filesystem::path> write_label_files(const LabelPlace& place,
                                                     std::span<const ModeLabels> labels);

}  // namespace polyad::io
