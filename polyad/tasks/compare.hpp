#pragma once

#include <utility>
#include <vector>

#include "polyad/kernels/analysis/matched_components.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/cp_model.hpp"
#include "polyad/tasks/task_result.hpp"

namespace polyad {

// Similarity of two CP models.
class Comparison : public TaskResult {
 public:
  Comparison(TaskResult texts, double score, std::vector<MatchedComponents> pairs)
      : TaskResult(std::move(texts)), score_(score), pairs_(std::move(pairs)) {}

  // Factor match score, from 0 to 1: the mean congruence of the pairs. 1 means that the components of the
  // smaller model are those of the other, up to order, signs and scale.
  double score() const { return score_; }
  // As many as the smaller model has components, the most similar first.
  const std::vector<MatchedComponents>& pairs() const { return pairs_; }

 private:
  double score_;
  std::vector<MatchedComponents> pairs_;
};

// Pairs the components of two models of the same tensor, the most similar first. Weights do not influence the
// score; the summary shows them. Throws Error{bad_input} where the dims of the models differ. Each process
// has a whole factor of each model in memory at a time. Collective.
Comparison compare(const Context& context, const CpModel& first, const CpModel& second);

}  // namespace polyad
