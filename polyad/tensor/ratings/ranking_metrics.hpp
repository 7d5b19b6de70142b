#pragma once

#include "polyad/base/types.hpp"

namespace polyad {

// Quality of lists of k recommendations. All but the last are means over the users to whom something is
// relevant; places count from 1.
struct ListMeasures {
  double precision = 0;  // relevant items among the first k / k
  double recall = 0;     // relevant items among the first k / all relevant items
  // Sum of 1 / log2(place + 1) over the relevant items among the first k, divided by its largest possible
  // value.
  double ndcg = 0;
  // Mean average precision: sum over the relevant items among the first k of the share of relevant items up
  // to their place, divided by k or the number of relevant items, whichever is smaller.
  double map = 0;
  double mrr = 0;       // 1 / place of the first relevant item among the first k; 0 where there is none
  double hit_rate = 0;  // 1 where a relevant item is among the first k, else 0
  // The share of pairs of a relevant and another item, of all that can be recommended to the user, in which
  // the relevant one has the higher score; equal scores count a half. 0.5 where there is no pair.
  double auc = 0;
  double coverage = 0;  // different items in all these lists / items that can be recommended

  friend bool operator==(const ListMeasures&, const ListMeasures&) = default;
};

// Quality of the first k recommendations, measured on held-out ratings.
//
// Items with training ratings, but none by the user, are recommended. An item is relevant to a user if the
// user's held-out rating of it is at least `threshold` and the user has no training rating of it; this
// includes items without other ratings, which cannot be recommended.
struct RankingMetrics {
  Index k = 0;
  double threshold = 0;
  Index num_users = 0;      // users with relevant items; 0: the measures are 0 and meaningless
  ListMeasures model = {};  // of the lists of the model
  // Of the same for all: the items with the most training ratings, without those that the user has rated.
  ListMeasures popularity = {};
  // Held-out ratings of at least `threshold` that are not relevant, because their user has a training rating
  // of the item.
  Index num_learned = 0;

  friend bool operator==(const RankingMetrics&, const RankingMetrics&) = default;
};

}  // namespace polyad
