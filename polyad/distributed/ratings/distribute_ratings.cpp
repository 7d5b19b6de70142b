#include "polyad/distributed/ratings/distribute_ratings.hpp"

#include <algorithm>

#include "polyad/distributed/move_nonzeros.hpp"

namespace polyad {
namespace {

constexpr double clearly_less = 0.9;

SparseTensor<double> moved_by_rows(const Comm& comm, SparseTensor<double> share, const RowOwners& owners,
                                   const PartPlaces& places) {
  if (comm.size() == 1) return share;
  std::vector<int> to;
  to.reserve(std::size_t(share.num_nonzeros()));
  for (const Index row : share.indices(0)) to.push_back(places.process_of(owners(row)));
  return move_nonzeros(comm, share, to);
}

// Ratings of users become ratings of items, elsewhere.
SparseTensor<double> moved_to_items(const Comm& comm, SparseTensor<double> ratings, const RowOwners& owners,
                                    const PartPlaces& places) {
  auto moved = moved_by_rows(comm, transposed(std::move(ratings), RatingSide::item), owners, places);
  keep_last_ratings(moved);  // which sorts them; there are no others
  return moved;
}

int decide_sub_epochs(const ColumnShares& columns, const RatingLayout& layout) {
  if (layout.is_stale_free) return int(std::max(columns.max_connectivity(), Index(1)));
  if (layout.num_sub_epochs) return *layout.num_sub_epochs;
  return choose_sub_epochs(columns, layout.row, layout.machine);
}

// The rotation if this side were distributed. The ratings are transposed for the time.
Rotation rotation_by(RatingSide by, const Comm& comm, SparseTensor<double>& train, const RowOwners& owners,
                     const RatingLayout& layout) {
  train = transposed(std::move(train), by);
  auto rotation =
      plan_rotation(gather_shares(comm, train, owners, places_of(comm, layout.num_parts).num_parts), layout);
  train = transposed(std::move(train), by);
  return rotation;
}

}  // namespace

OwnRatings move_to_users(const Comm& comm, SparseTensor<double> share, const RowOwners& user_owners,
                         const RatingSplit& split, const PartPlaces& places) {
  share = moved_by_rows(comm, std::move(share), user_owners, places);
  OwnRatings own;
  own.num_duplicates = comm.all_reduce(keep_last_ratings(share));
  own.split = split_ratings(std::move(share), split);
  return own;
}

OwnRatings move_to_users(const Comm& comm, SparseTensor<double> share, const RowOwners& user_owners,
                         const RatingSplit& split) {
  return move_to_users(comm, std::move(share), user_owners, split, places_of(comm, 0));
}

Rotation plan_rotation(ColumnShares columns, const RatingLayout& layout) {
  const int num_sub_epochs = decide_sub_epochs(columns, layout);
  return plan_rotation(std::move(columns), num_sub_epochs, layout.owners, layout.seed);
}

DistributedRatings distribute(const Comm& comm, SplitRatings of_users, const SideOwners& owners,
                              const RatingLayout& layout) {
  DistributedRatings distributed{owners.users ? RatingSide::user : RatingSide::item, std::move(of_users),
                                 owners.users.value_or(RowOwners{}), Rotation{}, std::nullopt};
  auto& train = distributed.split.train;
  if (owners.users) distributed.rotation = rotation_by(RatingSide::user, comm, train, *owners.users, layout);
  if (!owners.items) return distributed;
  auto by_items = rotation_by(RatingSide::item, comm, train, *owners.items, layout);
  if (owners.users) {
    const auto seconds = [&](const Rotation& rotation) {
      return costs_of(rotation, layout.row, layout.machine).predicted_seconds;
    };
    distributed.side_seconds = SideSeconds{seconds(distributed.rotation), seconds(by_items)};
    if (distributed.side_seconds->items >= clearly_less * distributed.side_seconds->users) return distributed;
  }
  distributed.by = RatingSide::item;
  distributed.rotation = std::move(by_items);
  distributed.owners = *owners.items;
  const auto places = places_of(comm, layout.num_parts);
  auto moved_train = moved_to_items(comm, std::move(distributed.split.train), *owners.items, places);
  auto moved_test = moved_to_items(comm, std::move(distributed.split.test), *owners.items, places);
  distributed.split = {std::move(moved_train), std::move(moved_test)};
  return distributed;
}

}  // namespace polyad
