#pragma once

#include <optional>

#include "polyad/distributed/ratings/dist_ratings.hpp"
#include "polyad/distributed/row_owners.hpp"

namespace polyad {

// The ratings of the users of one process.
struct OwnRatings {
  SplitRatings split;        // with global numbers; sorted by user, then by item
  Index num_duplicates = 0;  // over all processes: earlier ratings of the same pair, which were dropped
};
// user_owners: the parts of users, of which each process has those that `places` says. Collective.
OwnRatings move_to_users(const Comm& comm, SparseTensor<double> share, const RowOwners& user_owners,
                         const RatingSplit& split, const PartPlaces& places);
// The same with a part for each process.
OwnRatings move_to_users(const Comm& comm, SparseTensor<double> share, const RowOwners& user_owners,
                         const RatingSplit& split);

// The rotation of distributed ratings, with the number of
// sub-epochs of the layout, or the one chosen by choose_sub_epochs.
Rotation plan_rotation(ColumnShares columns, const RatingLayout& layout);

// Owners of users and of items. A side without owners cannot be distributed.
struct SideOwners {
  std::optional<RowOwners> users, items;
};
// Predicted time of an epoch, if users or items are distributed.
struct SideSeconds {
  double users = 0, items = 0;
};

struct DistributedRatings {
  RatingSide by = RatingSide::user;  // the side that is distributed; rows of the other are communicated
  SplitRatings split;                // ratings of this process, with that side first; sorted
  RowOwners owners;                  // the part of each row of that side
  Rotation rotation;
  std::optional<SideSeconds> side_seconds;  // predictions, if both sides were considered
};
// Moves ratings from the owners of their users to the processes that train on
// them. If both sides can be distributed, it takes users, unless an epoch with
// items distributed is predicted to take at least 10 % less time. Collective.
DistributedRatings distribute(const Comm& comm, SplitRatings of_users, const SideOwners& owners,
                              const RatingLayout& layout);

}  // namespace polyad
