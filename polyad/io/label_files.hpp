#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::io {

// Reads a label file: line i names index i (from 0 here). The mode's name is taken from the file's own,
// mode-<k>-<name>.map[.gz], where it has that form.
ModeLabels read_labels(const std::filesystem::path& path);

// Whether a file is one of labels by its name, mode-<k>[-<name>].map[.gz].
bool is_label_file(const std::filesystem::path& path);
// All such files beside a tensor, by name.
std::vector<std::filesystem::path> label_files_beside(const std::filesystem::path& tensor);

// The labels that lie beside a tensor, by the names of their files: one entry per mode, empty where there
// is none. Where several claim a mode, the first by name is taken and a note says so.
struct FoundLabels {
  std::vector<ModeLabels> labels;
  std::vector<std::string> notes;
};
FoundLabels find_labels_beside(const std::filesystem::path& tensor, int order);

// Throws Error{bad_option} when other labels lie there for a mode that has some: written beside them, ours
// would be mistaken for them or they for ours.
void check_label_files(const std::filesystem::path& tensor, std::span<const ModeLabels> labels);
// Writes mode-<k>-<name>.map beside a tensor for every mode that has labels, and returns their paths.
std::vector<std::filesystem::path> write_label_files(const std::filesystem::path& tensor,
                                                     std::span<const ModeLabels> labels);

}  // namespace polyad::io
