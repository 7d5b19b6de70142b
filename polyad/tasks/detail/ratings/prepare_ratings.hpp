#pragma once

#include <optional>
#include <vector>

#include "polyad/algo/sgd_completion.hpp"
#include "polyad/distributed/ratings/distribute_ratings.hpp"
#include "polyad/tasks/complete.hpp"

namespace polyad::tasks {

// Ratings that are ready to be learned from. In all of it but the labels, the side that was distributed comes
// first.
template <class Real>
struct ReadyRatings {
  explicit ReadyRatings(const Comm& comm) : x(comm) {}

  std::vector<ModeLabels> labels;
  std::optional<EarlierTraining<Real>> earlier;    // the model to continue from
  DistributedRatings distributed;                  // without the rotation, which x has
  Index num_duplicates = 0;                        // dropped
  Index num_test_duplicates = 0, num_unknown = 0;  // of the given test ratings: dropped, and left out
  DistRatings<Real> x;
  double load_seconds = 0, distribute_seconds = 0;
};

// Reads the further files that the options name, chooses a distribution, and moves the ratings to their
// processes. Throws Error{resource} where training would need more memory than the options allow. Collective.
template <class Real>
ReadyRatings<Real> prepare_ratings(const Context& context, Tensor ratings, const CompleteOptions& options,
                                   const CompletionOptions& training, const MachineModel& machine);

// How ratings to test on are taken from those to learn from; not at all where they are given.
RatingSplit split_of(const TestRatings& test, std::uint64_t seed);

// What the options call the test ratings: "none", "0.1", "leave-one-out", "tensor", or the path of a file.
std::string name_of(const TestRatings& test);

}  // namespace polyad::tasks
