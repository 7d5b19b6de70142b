#pragma once

#include <optional>

#include "polyad/distributed/ratings/dist_ratings.hpp"
#include "polyad/distributed/row_owners.hpp"

namespace polyad {

// The ratings of a process: those of its users. Consumes the share. Collective.
struct OwnRatings {
  SplitRatings split;        // under global numbers; sorted by user, then by item
  Index num_duplicates = 0;  // of all processes: earlier ratings of the same pair, which were dropped
};
OwnRatings move_to_users(const Comm& comm, SparseTensor<double> share, const RowOwners& user_owners,
                         const RatingSplit& split);

// The rotation of ratings whose rows are so dealt out: with as many sub-epochs as the layout says, or as are
// worth having.
Rotation plan_rotation(ColumnShares columns, const RatingLayout& layout);

// Who would have each user, and each item. Where it is not said, the side cannot be dealt out.
struct SideOwners {
  std::optional<RowOwners> users, items;
};
// Predicted seconds of an epoch.
struct SideSeconds {
  double users = 0, items = 0;
};

struct DealtRatings {
  RatingSide by = RatingSide::user;  // who was dealt out; the rows of the others travel
  SplitRatings split;                // of this process, with that side first; sorted
  Rotation rotation;
  std::optional<SideSeconds> weighed;  // where both could have been
};
// Takes ratings from the processes that have their users to those that will learn from them. Where users and
// items could be dealt out it is users, unless an epoch by items is predicted to take a tenth less.
// Collective.
DealtRatings distribute(const Comm& comm, SplitRatings of_users, const SideOwners& owners,
                        const RatingLayout& layout);

}  // namespace polyad
