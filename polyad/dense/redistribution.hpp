#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "polyad/dense/dense_layout.hpp"

namespace polyad::dense {

// A change of distribution by one collective operation among the processes along some grid modes H (Schatz
// 2013, section 4; permutations and hyperplanes are explicit here).
enum class Move {
  filter,          // append unused H to modes, or keep one hyperplane: nothing is sent
  permutation,     // rearrange H, with as many parts of every mode as before: each process has one partner
  all_to_all,      // move H from the ends of modes to the ends of others
  allgather,       // drop H from the ends of modes
  reduce_scatter,  // sum over H and append H to modes
  all_reduce,      // sum over H
  scatter,         // from a hyperplane: append H to modes
  gather,          // to a hyperplane: drop H from the ends of modes
  broadcast        // from a hyperplane to all
};
std::string_view to_string(Move move);

struct RedistributionStep {
  Move move;
  std::vector<int> grid_modes;  // H
  TensorDistribution from, to;

  friend bool operator==(const RedistributionStep&, const RedistributionStep&) = default;
};

// Maximum cost of a step on a process: the terms of Schatz 2013, figure 6.
struct StepCost {
  double messages = 0, words = 0, additions = 0, copied_words = 0;

  StepCost& operator+=(const StepCost& other);
};

// Seconds per unit of these costs, and per floating-point
// operation of a local contraction with all threads of a process.
struct DenseMachine {
  double per_message = 3e-6, per_word = 1.2e-9, per_addition = 3e-10, per_copied_word = 6e-10;
  double per_flop = 1 / 28e9;
};
double seconds(const StepCost& cost, const DenseMachine& machine);

// Number of processes along these modes of a grid.
double num_processes(const std::vector<int>& grid_modes, const GridShape& grid);

// A sequence of steps from one distribution to another.
struct RedistributionPlan {
  GridShape grid;
  std::vector<Index> extents;
  TensorDistribution from, to;
  std::vector<RedistributionStep> steps;
};

// Quick: considers only moves towards the target. Thorough: considers
// all, unless the search would take longer than the redistribution.
enum class SearchEffort { quick, thorough };

// The cheapest sequence of steps. `from` may have pending sums,
// `to` none. Throws Error{bad_option} if one of them is invalid.
RedistributionPlan plan_redistribution(const GridShape& grid, const std::vector<Index>& extents,
                                       const TensorDistribution& from, const TensorDistribution& to,
                                       const DenseMachine& machine = {},
                                       SearchEffort effort = SearchEffort::thorough);

// Cost of a collective of num_processes, from the maximum elements of a process before and after.
StepCost cost_of(Move move, double num_processes, double before, double after);
StepCost cost_of(const RedistributionStep& step, const GridShape& grid, const std::vector<Index>& extents);
StepCost cost_of(const RedistributionPlan& plan);

// Words that a process receives in this step and did not have; in a reduction, the
// words of partial sums that it gives away. Equals the count during execution.
Index planned_words(const RedistributionStep& step, const GridShape& grid, const std::vector<Index>& extents,
                    int rank);
Index planned_words(const RedistributionPlan& plan, int rank);

// Whether the last step can store the elements with their modes in any order at no cost, while unpacking.
bool can_reorder(const RedistributionPlan& plan);

// Peak number of elements of a process during a plan, in addition to the
// tensor at its start: the result, intermediate tensors, and messages.
Index working_elements(const RedistributionPlan& plan);

// One line per step: "allgather over <1>: (<0>,<1>) -> (<0>,<>), 120 words".
std::string describe(const RedistributionPlan& plan);

// The distribution without grid modes of one process, which have no effect.
TensorDistribution without_trivial_modes(const TensorDistribution& distribution, const GridShape& grid);

}  // namespace polyad::dense
