#pragma once

#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

// One step of an iteration of alternating least squares. It updates one factor or, where a pass over the
// nonzeros has what the next needs at hand, two.
struct AlsStep {
  enum class Kind {
    mttkrp,         // in whatever format; the rows are solved afterwards
    root,           // a pass over a tree that has the mode at its root: rows are solved in place
    root_and_next,  // the same, which also makes the MTTKRP of the mode in the tree's second level
    scatter         // a pass over a tree that has the mode further down
  };
  Kind kind = Kind::mttkrp;
  int mode = 0;
  int tree = 0;  // unless it is mttkrp

  friend bool operator==(const AlsStep&, const AlsStep&) = default;
};

// An iteration, as a value: in which order the modes are updated, by which passes over which trees.
struct AlsPlan {
  std::vector<int> mode_order;
  std::vector<std::vector<int>> trees;  // the modes of each, from the root down; none: not csf
  std::vector<AlsStep> steps;

  friend bool operator==(const AlsPlan&, const AlsPlan&) = default;
};

// The plain iteration, for any format: an MTTKRP per mode, then its rows. What the others are checked by.
AlsPlan plain_plan(std::vector<int> mode_order, std::vector<std::vector<int>> trees = {});

// "modes 1 and 2 in one pass over tree 1-2-3, mode 3 by scattering over tree 1-2-3"; modes count from 1.
std::string describe(const AlsPlan& plan);

}  // namespace polyad
