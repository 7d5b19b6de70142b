#pragma once

#include <string>
#include <vector>

namespace polyad {

// Names of the indices of one mode: labels[i] names index i. Empty: the indices have no names.
struct ModeLabels {
  std::string name;  // name of the mode; may be empty
  std::vector<std::string> labels;

  bool empty() const { return labels.empty(); }
  friend bool operator==(const ModeLabels&, const ModeLabels&) = default;
};

// Sorts distinct labels into the order in which they number a mode: numerically if all are numbers,
// otherwise by their bytes. The numbering then does not depend on the order of lines in a file.
void sort_labels(std::vector<std::string>& labels);

}  // namespace polyad
