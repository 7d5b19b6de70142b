#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyad/dense/contraction_plan.hpp"

namespace polyad::dense {

// A contraction in blocks of one index, so that less lies in memory at once. Blocks are multiples of the
// parts of that index, so that a block lies on the grid as the whole does.
struct BlockedContraction {
  ContractionPlan plan;  // of a whole block; without blocks, of everything
  ContractionProblem problem;
  std::string block_index;  // empty: no blocks
  Index block_extent = 0;

  Index num_blocks() const;
};

Index working_elements(const BlockedContraction& blocked);
double predicted_seconds(const BlockedContraction& blocked, const DenseMachine& machine);
// Words that a process gets, over all blocks.
Index planned_words(const BlockedContraction& blocked, int rank);
// Problem and plan of the block-th block: the last may be shorter than the others.
ContractionPlan plan_of_block(const BlockedContraction& blocked, Index block);

struct ContractionChoice {
  std::optional<Stationary> stationary;  // nothing: the cheapest
  std::optional<Index> max_bytes;        // that a process may hold; nothing: no limit
  DenseMachine machine;
  Index element_bytes = sizeof(double);
};

// The cheapest that fits; in blocks only when nothing fits without. Throws Error{resource} when not even the
// smallest blocks fit, with what they would take.
BlockedContraction choose_contraction(const ContractionProblem& problem, const ContractionChoice& choice);

// The same over the grids of so many processes, as many modes as the largest tensor has; with canonical
// distributions.
BlockedContraction choose_contraction(const ContractionExpression& expression,
                                      const std::vector<Index>& extents_a,
                                      const std::vector<Index>& extents_b, int num_processes,
                                      const ContractionChoice& choice);

}  // namespace polyad::dense
