#pragma once

#include <string>
#include <vector>

namespace polyad {

// What the indices of one mode mean: labels[i] names index i. No labels: the indices speak for themselves.
struct ModeLabels {
  std::string name;
  std::vector<std::string> labels;

  bool empty() const { return labels.empty(); }
  friend bool operator==(const ModeLabels&, const ModeLabels&) = default;
};

// Puts distinct labels into the order in which they number a mode: as numbers when all are whole
// numbers, else by their bytes. So the numbering does not depend on the order of a file's lines.
void sort_labels(std::vector<std::string>& labels);

}  // namespace polyad
