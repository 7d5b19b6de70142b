#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyad/algo/analysis/count_evidence.hpp"
#include "polyad/report/rank_table.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tasks/task_result.hpp"
#include "polyad/tasks/tensor.hpp"

namespace polyad {

struct RankOptions {
  // Numbers of components to try, ascending, each from 1 to 100000 (default: 1 to 8, or fewer for a tensor
  // with short modes).
  std::vector<Index> ranks = {};
  // Random starts for each number, from 1 to 1000 (default 3). They have the seeds `seed`, `seed` + 1, ...
  int num_starts = 3;
  // Fraction of the nonzeros that is held out and predicted, with as many zeros, from 0 to 0.5 (default
  // 0.05).
  double held_out = 0.05;
  int max_iterations = 200;        // of each decomposition
  double tolerance = 1e-6;         // stop when the fit changes by less than this times the fit; 0: never
  std::uint64_t seed = 1;          // of the first start
  Start start = Start::automatic;  // initial factors; svd: those of the first start
  bool nonnegative = false;        // no negative entries in any factor
  std::vector<int> nonnegative_modes = {};  // the same in these modes only, counted from 0
  Precision precision = Precision::float64;
  StorageFormat format = StorageFormat::automatic;
  Index max_memory_bytes = 0;  // 0: the memory of the machine
  // Called when a number of components is done (default: nothing is called).
  std::function<void(const CountEvidence&)> observer = {};
};

// How many components suit a tensor.
class RankChoice : public TaskResult {
 public:
  RankChoice(TaskResult texts, std::vector<CountEvidence> evidence, ComponentRecommendation recommendation)
      : TaskResult(std::move(texts)),
        evidence_(std::move(evidence)),
        recommendation_(std::move(recommendation)) {}

  // The recommended number of components; nothing where the evidence does not decide.
  std::optional<Index> rank() const { return recommendation_.num_components; }
  // Why, in a sentence.
  const std::string& reason() const { return recommendation_.reason; }
  // For each number of components that was tried, ascending.
  const std::vector<CountEvidence>& evidence() const { return evidence_; }

 private:
  std::vector<CountEvidence> evidence_;
  ComponentRecommendation recommendation_;
};

// Throws Error{bad_option} for options that make no sense whatever the tensor.
void validate(const RankOptions& options);

// Decomposes a tensor with several numbers of components, each from several random starts, and recommends a
// number by how well the models fit, predict held-out cells, are consistent and repeat; docs/rank.md explains
// the evidence. Move the tensor in if it is not needed afterwards. Of several processes, each gets the whole
// tensor and does some of the starts; the result is that of one. Throws Error{resource} when a decomposition
// does not fit into max_memory_bytes. Collective.
RankChoice choose_rank(const Context& context, Tensor x, const RankOptions& options = {});

}  // namespace polyad
