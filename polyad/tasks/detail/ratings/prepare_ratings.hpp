#pragma once

#include <optional>
#include <vector>

#include "polyad/algo/ratings/sgd_completion.hpp"
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
  Index num_learned = 0;                           // of them: training ratings have their user and item too
  DistRatings<Real> x;
  double load_seconds = 0, distribute_seconds = 0;
};

// Reads the further files that the options name, chooses a distribution, and moves the ratings to their
// processes. Throws Error{resource} where training would need more memory than the options allow. Collective.
template <class Real>
ReadyRatings<Real> prepare_ratings(const Context& context, Tensor ratings, const CompleteOptions& options,
                                   const CompletionOptions& training, const MachineModel& machine);

// What the options say, or leave to the method.
Shrinkage shrinkage_of(const CompleteOptions& options);
// Whether training is by alternating least squares.
bool uses_least_squares(const CompleteOptions& options);
// Steps of conjugate gradients; 0: systems are solved exactly, or there are none.
int cg_steps_of(const CompleteOptions& options);

// How ratings to test on are taken from those to learn from; not at all where they are given.
RatingSplit split_of(const TestRatings& test, std::uint64_t seed);

// Ratings of the users of this process, for alternating least squares.
struct SplitTask {
  std::vector<ModeLabels> labels;
  SplitRatings split;                              // users x items, sorted
  std::vector<Index> extents;                      // users, items
  Index num_duplicates = 0;                        // dropped
  Index num_test_duplicates = 0, num_unknown = 0;  // of the given test ratings: dropped, and left out
  Index num_learned = 0;                           // of them: training ratings have their user and item too
  double load_seconds = 0, distribute_seconds = 0;
};
// Reads the test ratings, if they are in a file, and moves ratings to the processes of their users.
// Collective.
SplitTask split_ratings(const Context& context, Tensor ratings, const CompleteOptions& options);

// Warns of `num_learned` ratings of `num_test` of this kind ("test" or "validation") whose user and item also
// have a training rating; `path`: of their file, or empty.
void warn_of_learned(const Context& context, Index num_learned, Index num_test, const std::string& kind,
                     const std::string& path);

// What the options call the test ratings: "none", "0.1", "leave-one-out", "tensor", or the path of a file.
std::string name_of(const TestRatings& test);

}  // namespace polyad::tasks
