#pragma once

#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

// One step of an iteration. In ALS it updates one factor, or two if the pass over the nonzeros has computed
// what the second one needs. In CP-OPT, where no factor changes during an evaluation, it computes the MTTKRPs
// of one mode or of several.
struct AlsStep {
  enum class Kind {
    mttkrp,         // MTTKRP in any format; rows are updated afterwards
    root,           // a pass over a tree with the mode at its root: rows are updated in place
    root_and_next,  // the same, and the MTTKRP of the mode at the second level of the tree
    scatter,        // a pass over a tree with the mode at a lower level
    levels          // CP-OPT: the MTTKRPs of the modes at the first levels of a tree, in one pass
  };
  Kind kind = Kind::mttkrp;
  int mode = 0;        // the mode that is updated; of levels: that at the root
  int tree = 0;        // index into AlsPlan::trees; unused by mttkrp
  int num_levels = 0;  // used by levels only
  // root_and_next, on several processes: rows to which others add are not known in the pass that sums them.
  // Either the pass over their slices is repeated for the next mode, or the sums below the nodes of the
  // second level are kept, and multiplied with the rows later.
  bool keeps_sums = false;

  friend bool operator==(const AlsStep&, const AlsStep&) = default;
};

// An iteration of ALS or an evaluation of CP-OPT: the order in which modes are updated, and by which passes
// over which trees.
struct AlsPlan {
  std::vector<int> mode_order;          // all modes, in the order of their updates
  std::vector<std::vector<int>> trees;  // modes of each CSF tree, from the root down; empty in other formats
  std::vector<AlsStep> steps;           // in order

  friend bool operator==(const AlsPlan&, const AlsPlan&) = default;
};

// The simplest iteration, for any format: for each mode an MTTKRP, then its rows. Reference for tests.
AlsPlan plain_plan(std::vector<int> mode_order, std::vector<std::vector<int>> trees = {});

// Text such as "modes 1 and 2 in one pass over tree 1-2-3, mode 3 by scattering over tree 1-2-3"; from 1.
std::string describe(const AlsPlan& plan);

}  // namespace polyad
