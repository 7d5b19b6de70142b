#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::io {

// Reads a label file: line i names index i (from 0 here). The mode's name is taken from the file's own,
// mode-<k>-<name>.map[.gz], where it has that form.
ModeLabels read_labels(const std::filesystem::path& path);

// The label files that lie beside a tensor, by their names; one entry per mode, empty where there is none.
std::vector<ModeLabels> find_labels_beside(const std::filesystem::path& tensor, int order);

// Writes mode-<k>-<name>.map beside a tensor for every mode that has labels, and returns their paths.
// A file of that name with other contents is not overwritten: Error{bad_option}.
std::vector<std::filesystem::path> write_label_files(const std::filesystem::path& tensor,
                                                     std::span<const ModeLabels> labels);

}  // namespace polyad::io
