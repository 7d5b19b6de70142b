#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "polyad/distributed/ratings/rotation_costs.hpp"
#include "polyad/distributed/ratings/row_messages.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"

namespace polyad {

// The ratings of one part, and what it needs to learn from them.
template <class Real>
struct RatingPart {
  // [local number]: global number. Local numbers are in random order. Users and
  // items without training ratings, which are here for the test only, come last.
  Array<Index> users, items;
  Index num_trained_users = 0, num_trained_items = 0;
  Array<Index> user_ratings, item_ratings;  // [local number]: number of training ratings of all parts

  std::vector<Array<LocalRating<Real>>> sub_epochs;  // training ratings, [sub-epoch]
  Array<LocalRating<Real>> test;
  Array<LocalIndex> owned_items;  // items whose row this part has at the end of an epoch
};

// Ratings as used in training. Each user belongs to one part; items belong to all parts with ratings of them,
// which update them by turns according to the rotation. A process has one part, or several, whose work it
// does by turns. Values are (rating - mean) / scale. If items are distributed, ratings were transposed:
// "users" are then items here, and vice versa.
template <class Real>
struct DistRatings {
  explicit DistRatings(Comm all) : comm(std::move(all)) {}

  Comm comm;
  PartPlaces places;
  Index num_users = 0, num_items = 0;   // of all parts
  Index num_ratings = 0, num_test = 0;  // of all parts
  double mean = 0, scale = 1;
  double deviation = 0;  // of the ratings: the scale, or 0 where all are equal

  std::vector<RatingPart<Real>> parts;  // of this process
  Rotation rotation;                    // of all parts
  // [share]: the local number of its column in its part; only for shares of this process.
  Array<LocalIndex> share_rows;
  std::vector<std::vector<RotationStep>> steps;  // [sub-epoch][part of this process]
  // [part of this process]: fetches the rows of items that are tested there.
  std::vector<RowMessages> visits;
};

struct RatingLayout {
  int num_parts = 0;                  // as many as processes, or more; 0: as many
  std::optional<int> num_sub_epochs;  // sub-epochs per epoch; empty: chosen
  bool is_stale_free = false;         // as many sub-epochs as needed; overrides num_sub_epochs
  ColumnOwners owners = ColumnOwners::balanced;
  bool centres = true;  // subtract the mean; false in models without biases
  std::uint64_t seed = 1;
  RowSize row;
  MachineModel machine;
};

// `own`: ratings of the users of this process, sorted; `owners`: the parts of users; `rotation`: computed
// from the ratings of all. Collective.
template <class Real>
DistRatings<Real> lay_out_ratings(const Comm& comm, const SplitRatings& own, const RowOwners& owners,
                                  Rotation&& rotation, const RatingLayout& layout);

// Rows of all users and items, on the root; empty on other processes. Users and items below: [part of this
// process].
template <class Real>
struct TrainedRows {
  RatingModel<Real> model;
  Array<Real> user_squares, item_squares;
};
template <class Real>
TrainedRows<Real> transposed(TrainedRows<Real> rows, RatingSide first);
template <class Real>
TrainedRows<Real> gather_model(const DistRatings<Real>& x, std::span<const RatingRows<Real>> users,
                               std::span<const RatingRows<Real>> items, const TravellingWords& words,
                               int root = 0);

}  // namespace polyad
