#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "polyad/dense/dense_layout.hpp"

namespace polyad::dense {

// What can happen to a distribution in one collective on the processes along some grid modes H (section 4 of
// the note; permutations and hyperplanes made explicit).
enum class Move {
  filter,          // append unused H to modes, or keep one hyperplane: nothing is sent
  permutation,     // H anew, the parts of every mode as many as before: a process has one partner
  all_to_all,      // H from the ends of modes to the ends of others
  allgather,       // drop H from the ends of modes
  reduce_scatter,  // add up over H and append H to modes
  all_reduce,      // add up over H
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

// What a process does in a step, at most: the terms of Figure 6.
struct StepCost {
  double messages = 0, words = 0, additions = 0, copied_words = 0;

  StepCost& operator+=(const StepCost& other);
};

// Seconds for each of them, and for a multiplication or an addition in a local contraction, by all threads of
// a process.
struct DenseMachine {
  double per_message = 3e-6, per_word = 1.2e-9, per_addition = 3e-10, per_copied_word = 6e-10;
  double per_flop = 1 / 28e9;
};
double seconds(const StepCost& cost, const DenseMachine& machine);

// Along these modes of a grid.
double num_processes(const std::vector<int>& grid_modes, const GridShape& grid);

// A way from one distribution to another: a value. Steps follow each other.
struct RedistributionPlan {
  GridShape grid;
  std::vector<Index> extents;
  TensorDistribution from, to;
  std::vector<RedistributionStep> steps;
};

// Quick: of the moves that seem to lead to the target. Thorough: of all, unless to look for them would take
// longer than they do.
enum class SearchEffort { quick, thorough };

// The cheapest sequence of moves. `from` may have sums to be made, `to` none. Throws Error{bad_option} when
// one of them is invalid.
RedistributionPlan plan_redistribution(const GridShape& grid, const std::vector<Index>& extents,
                                       const TensorDistribution& from, const TensorDistribution& to,
                                       const DenseMachine& machine = {},
                                       SearchEffort effort = SearchEffort::thorough);

// Of a collective among so many processes, by the elements that a process has before it and after it at most.
StepCost cost_of(Move move, double num_processes, double before, double after);
StepCost cost_of(const RedistributionStep& step, const GridShape& grid, const std::vector<Index>& extents);
StepCost cost_of(const RedistributionPlan& plan);

// The words that a process gets in this step and did not have; in a reduction, those of partial sums that it
// gives away. What is counted when the step is executed must be this.
Index planned_words(const RedistributionStep& step, const GridShape& grid, const std::vector<Index>& extents,
                    int rank);
Index planned_words(const RedistributionPlan& plan, int rank);

// Whether the last step can lay the elements down with the modes in any order at no cost: it unpacks them.
bool can_reorder(const RedistributionPlan& plan);

// The most elements that a process holds at once while a plan is executed, besides the tensor that it begins
// with: the result, what lies between, and messages.
Index working_elements(const RedistributionPlan& plan);

// One line per step: "allgather over <1>: (<0>,<1>) -> (<0>,<>), 120 words".
std::string describe(const RedistributionPlan& plan);

// The distribution without the grid modes of one process, which mean nothing.
TensorDistribution without_trivial_modes(const TensorDistribution& distribution, const GridShape& grid);

}  // namespace polyad::dense
