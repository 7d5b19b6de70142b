#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "polyad/dense/contraction_expression.hpp"
#include "polyad/dense/redistribution.hpp"

namespace polyad::dense {

// Which tensor is not moved: the large one, where the others are small.
enum class Stationary { a, b, c };
std::string to_string(Stationary stationary);

// What is to be computed, and how the tensors lie: C both before and after.
struct ContractionProblem {
  ContractionExpression expression;
  GridShape grid;
  std::map<std::string, Index> extents;  // of every index
  TensorDistribution a, b, c;

  std::vector<Index> extents_of(const IndexNames& indices) const;
};

// With the default canonical distributions. Throws Error{bad_option} when an index has two extents, or a
// tensor not as many modes as the expression says.
ContractionProblem canonical_problem(const ContractionExpression& expression, const GridShape& grid,
                                     const std::vector<Index>& extents_a,
                                     const std::vector<Index>& extents_b);

// One input on its way to the product: what it alone has an index for is summed where it lies, and then it
// goes, with or without those sums made, to where it is multiplied.
struct InputPlan {
  IndexNames indices;  // after the local sums
  RedistributionPlan prep;
};

// An algorithm for a contraction, derived by propagation of constraints (section 5 of the note): a value.
// Prep moves the inputs; Product multiplies local parts into T, which starts at zero and has C's indices;
// Reduce adds up what processes have of T, one contracted index after the other; Finish moves the result and
// adds it to C. With C stationary the product goes straight into C.
struct ContractionPlan {
  ContractionProblem problem;
  Stationary stationary = Stationary::c;
  InputPlan a, b;
  TensorDistribution product;        // of T, with the sums to be made
  std::vector<std::string> reduced;  // the index that each step of `reduce` eliminates
  RedistributionPlan reduce, finish;

  bool goes_straight_to_c() const { return reduce.steps.empty() && finish.steps.empty(); }
};

// In which order the modes of the inputs lie while they are multiplied, the fastest first: as the product
// wants them where the last step of their way can put them so, else as they are.
struct ProductLayout {
  std::vector<int> a, b;  // modes of the indices in InputPlan
};
ProductLayout product_layout(const ContractionPlan& plan);

// The steps of a plan in their order, each with the name that it is told by: T for what is summed, C' for the
// result on its way, where no tensor of the expression is called so.
struct NamedSteps {
  std::string tensor;
  const RedistributionPlan& moves;
};
std::vector<NamedSteps> steps_before_product(const ContractionPlan& plan);
std::vector<NamedSteps> steps_after_product(const ContractionPlan& plan);

ContractionPlan derive_contraction(const ContractionProblem& problem, Stationary stationary,
                                   const DenseMachine& machine = {},
                                   SearchEffort effort = SearchEffort::thorough);

// Multiplications and additions of the process that has most to do: those of the product, and before it the
// additions of each input over what it alone has.
double local_flops(const ContractionPlan& plan);
double local_additions(const ContractionPlan& plan, Stationary input);
// Of all processes together, both kinds.
double total_flops(const ContractionProblem& problem);
StepCost communication_cost(const ContractionPlan& plan);
double predicted_seconds(const ContractionPlan& plan, const DenseMachine& machine);
// Words that a process gets, in all steps.
Index planned_words(const ContractionPlan& plan, int rank);
// The most elements that a process holds at once: its parts of A, B and C, and what the execution makes.
Index resident_elements(const ContractionProblem& problem);
Index working_elements(const ContractionPlan& plan);

// The derivation, template after template as in the note, and the algorithm with the cost of every step.
std::string explain(const ContractionPlan& plan, const DenseMachine& machine = {});

}  // namespace polyad::dense
