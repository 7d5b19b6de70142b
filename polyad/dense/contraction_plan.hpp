#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "polyad/dense/contraction_expression.hpp"
#include "polyad/dense/redistribution.hpp"

namespace polyad::dense {

// Which tensor is not redistributed.
enum class Stationary { a, b, c };
std::string to_string(Stationary stationary);

// A contraction with the distributions of its tensors; that of C before and after.
struct ContractionProblem {
  ContractionExpression expression;
  GridShape grid;
  std::map<std::string, Index> extents;  // [index]
  TensorDistribution a, b, c;

  std::vector<Index> extents_of(const IndexNames& indices) const;
};

// With the default canonical distributions. Throws Error{bad_option} if an index
// has two extents, or a tensor has another number of modes than in the expression.
ContractionProblem canonical_problem(const ContractionExpression& expression, const GridShape& grid,
                                     const std::vector<Index>& extents_a,
                                     const std::vector<Index>& extents_b);

// Preparation of an input: indices that it alone has are summed locally, then it is
// redistributed, and sums over processes are completed before or with the product.
struct InputPlan {
  IndexNames indices;  // after the local sums
  RedistributionPlan prep;
};

// An algorithm for a contraction, derived by constraint propagation (Schatz 2013, section 5;
// docs/algorithms.md). Prep redistributes the inputs; Product multiplies local parts into T, which starts
// at zero and has the indices of C; Reduce sums T over processes, one contracted index after another;
// Finish redistributes the result and adds it to C. With C stationary the product is added to C directly.
struct ContractionPlan {
  ContractionProblem problem;
  Stationary stationary = Stationary::c;
  InputPlan a, b;
  TensorDistribution product;        // of T, with the pending sums
  std::vector<std::string> reduced;  // the index that each step of `reduce` eliminates
  RedistributionPlan reduce, finish;

  bool goes_straight_to_c() const { return reduce.steps.empty() && finish.steps.empty(); }
};

// Order of the modes of the inputs in the product, the fastest first: as the product
// prefers it if the last redistribution step can produce it, otherwise unchanged.
struct ProductLayout {
  std::vector<int> a, b;  // modes of the indices in InputPlan
};
ProductLayout product_layout(const ContractionPlan& plan);

// The steps of a plan in order, each with the name of its tensor: T for the partial product,
// C' for the result before Finish, with primes added where the expression uses these names.
struct NamedSteps {
  std::string tensor;
  const RedistributionPlan& moves;
};
std::vector<NamedSteps> steps_before_product(const ContractionPlan& plan);
std::vector<NamedSteps> steps_after_product(const ContractionPlan& plan);

ContractionPlan derive_contraction(const ContractionProblem& problem, Stationary stationary,
                                   const DenseMachine& machine = {},
                                   SearchEffort effort = SearchEffort::thorough);

// Floating-point operations of the process that has the most: of the
// product, and the additions of an input over indices that it alone has.
double local_flops(const ContractionPlan& plan);
double local_additions(const ContractionPlan& plan, Stationary input);
// Of all processes together, both kinds.
double total_flops(const ContractionProblem& problem);
StepCost communication_cost(const ContractionPlan& plan);
double predicted_seconds(const ContractionPlan& plan, const DenseMachine& machine);
// Words that a process receives in all steps.
Index planned_words(const ContractionPlan& plan, int rank);
// Peak number of elements of a process: of its parts of A, B and C; and in total during the contraction.
Index resident_elements(const ContractionProblem& problem);
Index working_elements(const ContractionPlan& plan);

// Text of the derivation, template by template (Schatz 2013, section 5), and the cost of every step.
std::string explain(const ContractionPlan& plan, const DenseMachine& machine = {});

}  // namespace polyad::dense
