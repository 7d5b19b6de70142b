#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyad/dense/contraction_plan.hpp"

namespace polyad::dense {

// A contraction split into blocks of one index, to limit memory. Blocks are multiples
// of the number of parts of that index, so that a block is distributed like the whole.
struct BlockedContraction {
  ContractionPlan plan;  // of one block; without blocks, of the whole contraction
  ContractionProblem problem;
  std::string block_index;  // empty: no blocks
  Index block_extent = 0;

  Index num_blocks() const;
};

Index working_elements(const BlockedContraction& blocked);
double predicted_seconds(const BlockedContraction& blocked, const DenseMachine& machine);
// Words that a process receives in all blocks.
Index planned_words(const BlockedContraction& blocked, int rank);
// Problem and plan of one block; the last block may be shorter.
ContractionPlan plan_of_block(const BlockedContraction& blocked, Index block);

struct ContractionChoice {
  std::optional<Stationary> stationary;  // default: the cheapest
  std::optional<Index> max_bytes;        // memory limit per process; default: none
  DenseMachine machine;
  Index element_bytes = sizeof(double);
};

// The cheapest plan that fits; in blocks only if nothing fits otherwise. Throws
// Error{resource} with the memory needed if not even the smallest blocks fit.
BlockedContraction choose_contraction(const ContractionProblem& problem, const ContractionChoice& choice);

// The same over all grids of this number of processes with as
// many modes as the largest tensor, and canonical distributions.
BlockedContraction choose_contraction(const ContractionExpression& expression,
                                      const std::vector<Index>& extents_a,
                                      const std::vector<Index>& extents_b, int num_processes,
                                      const ContractionChoice& choice);

}  // namespace polyad::dense
