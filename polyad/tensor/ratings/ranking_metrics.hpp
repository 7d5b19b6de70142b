#pragma once

#include "polyad/base/types.hpp"

namespace polyad {

// Quality of the first k recommendations, measured on held-out ratings.
//
// Items with training ratings, but none by the user, are recommended. An item is relevant to a user if the
// user's held-out rating of it is at least `threshold` and the user has no training rating of it; this
// includes items without other ratings, which cannot be recommended. The measures are means over the users
// with relevant items:
//   precision = relevant items among the first k / k
//   recall    = relevant items among the first k / all relevant items
//   ndcg      = sum of 1 / log2(place + 1) over the relevant items among the first k, places from 1,
//               divided
//               by its largest possible value
struct RankingMetrics {
  Index k = 0;
  double threshold = 0;
  Index num_users = 0;  // users with relevant items; 0: the measures are 0 and meaningless
  double precision = 0, recall = 0, ndcg = 0;

  friend bool operator==(const RankingMetrics&, const RankingMetrics&) = default;
};

}  // namespace polyad
