#pragma once

#include "polyad/algo/ratings/sgd_completion.hpp"
#include "polyad/distributed/ratings/distribute_ratings.hpp"
#include "polyad/tasks/complete.hpp"

namespace polyad::tasks {

// Throws Error{bad_input} unless the tensor has two modes, and Error{resource} when a row of that many bytes
// for every user and item, shared by the processes, does not fit in this machine.
struct RowNeeds {
  double bytes_per_row = 0;
  int processes = 1;
};
void require_ratings(const Tensor& ratings, const RowNeeds& rows);

// The test ratings that are not taken from the training ratings, under their indices.
struct GivenTest {
  SparseTensor<double> share;
  Index num_unknown = 0;  // left out, because their users or items are not in the training; of all processes
};
// Process 0 reads the file, if there is one. Collective.
GivenTest load_test(const Context& context, const TestRatings& test, const Tensor& training);

// The part of each user, and of each item, where these may be distributed. Both only where the side is
// chosen by prediction, for several parts and not by a file. Collective.
SideOwners own_sides(const Context& context, const SparseTensor<double>& share,
                     const CompleteOptions& options, int num_parts);

// The model to go on from; users and items that have labels are found by them. Throws Error{bad_option} when
// it is of another kind than the options ask for, Error{bad_input} when it is not of these users and items.
// Collective.
template <class Real>
EarlierTraining<Real> load_earlier(const Comm& comm, const Tensor& training, const CompleteOptions& options);

}  // namespace polyad::tasks
