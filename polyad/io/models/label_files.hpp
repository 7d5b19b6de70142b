#pragma once

#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::io {

// Where the label files of a tensor or a model lie. Those of a file bear its name without its extension:
// x.mode-1-team.map[.gz] belongs to x.tns, x.tns.gz and x.bin. A model that is a folder has them inside, as
// mode-1-team.map[.gz].
struct LabelPlace {
  enum class Owner { tensor, model_file, model_folder };

  Owner owner = Owner::tensor;
  std::filesystem::path folder;
  std::filesystem::path file;  // the owner's; empty for a folder

  std::string prefix() const;  // "x." for x.tns.gz, "" for a folder
};
LabelPlace labels_of_tensor(const std::filesystem::path& tensor);
LabelPlace labels_of_model_file(const std::filesystem::path& model);
LabelPlace labels_of_model_folder(const std::filesystem::path& folder);

// Reads a label file: line i names index i (from 0 here). The mode's name is taken from the file's own,
// [x.]mode-<k>-<name>.map[.gz], where it has that form. Throws Error{bad_input} when the labels would take
// far more memory than the file takes on disk.
struct LabelFile {
  ModeLabels labels;
  bool has_more = false;  // lines beyond the `most` that were read
};
LabelFile read_labels(const std::filesystem::path& path, Index most = std::numeric_limits<Index>::max());
// How many labels are read for a mode: no more than twice its length.
Index max_labels(Index extent);

// Whether a file is one of labels by its name without a prefix, mode-<k>[-<name>].map[.gz].
bool is_label_file(const std::filesystem::path& path);
// Whether a file of this name beside the owner may be one of its labels: it has the owner's prefix, or none.
bool may_be_labels(const LabelPlace& place, const std::filesystem::path& name);
// Every such file that is there, by name.
std::vector<std::filesystem::path> label_files_at(const LabelPlace& place);

// The labels of an owner: one entry per mode, empty where there is none. Files that bear its name come first;
// where several claim a mode, the first by name is taken. Files without a prefix beside a tensor (or a model
// that is a file) are taken where it is the only one in its folder and where they are not shorter than the
// mode. Modes of extent 0 are passed over.
struct FoundLabels {
  std::vector<ModeLabels> labels;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  // what was taken or left though its name does not say whose it is
};
FoundLabels find_labels(const LabelPlace& place, std::span<const Index> extents);
// The same from all files without a prefix in a folder that the user names. Throws Error{bad_option} when
// there are none.
FoundLabels find_labels_in(const std::filesystem::path& folder, std::span<const Index> extents);

// Throws Error{bad_option} when other labels lie there for the owner: it would be mistaken for theirs.
void check_label_files(const LabelPlace& place, std::span<const ModeLabels> labels);
// Writes a label file for every mode that has labels, and returns their paths.
std::vector<std::filesystem::path> write_label_files(const LabelPlace& place,
                                                     std::span<const ModeLabels> labels);

}  // namespace polyad::io
