#pragma once

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"

namespace polyad {

// Root mean square errors, on the test ratings, of predictions that need no factors. All are made from the
// training ratings; what these do not have is predicted by their mean.
struct BaselineErrors {
  double mean = 0;        // by the mean of all ratings
  double user_means = 0;  // by the mean of the user's ratings
  double item_means = 0;  // by the mean of the item's ratings
  // By the mean plus an offset of the item plus an offset of the user: first those of items, then those of
  // users on what is left; each damped as by five ratings without offset.
  double biases = 0;
};

// `own`: the ratings of this process, with the side `first` in mode 0. Needs memory for two numbers per user
// and item on each process. Collective.
BaselineErrors measure_baselines(const Comm& comm, const SplitRatings& own, RatingSide first);

}  // namespace polyad
