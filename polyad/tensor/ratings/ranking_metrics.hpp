#pragma once

#include "polyad/base/types.hpp"

namespace polyad {

// How good the first k recommendations are, by ratings that were held out of the training.
//
// Recommended are items that have ratings in the training, but not by this user. Relevant to a user are the
// items that the user rated at least `threshold` among those held out, and did not rate in the training too;
// also items that have no other rating, which cannot be recommended. The measures are means over the users to
// whom any item is relevant:
//   precision = relevant ones among the first k / k
//   recall    = relevant ones among the first k / all relevant ones
//   ndcg      = sum of 1 / log2(place + 1) over the relevant ones among the first k, places from 1, divided
//   by
//               what it would be with relevant ones alone
struct RankingMetrics {
  Index k = 0;
  double threshold = 0;
  Index num_users = 0;  // over whom the means are; 0: the measures are 0 and say nothing
  double precision = 0, recall = 0, ndcg = 0;

  friend bool operator==(const RankingMetrics&, const RankingMetrics&) = default;
};

}  // namespace polyad
