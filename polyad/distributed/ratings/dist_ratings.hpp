#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "polyad/distributed/ratings/rotation_costs.hpp"
#include "polyad/distributed/ratings/row_messages.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"

namespace polyad {

// Ratings as used in training. Each user belongs to one process; items belong to all processes with
// ratings of them, which update them by turns according to the rotation. Values are (rating - mean) /
// scale. If items are distributed, ratings were transposed: "users" are then items here, and vice versa.
template <class Real>
struct DistRatings {
  explicit DistRatings(Comm all) : comm(std::move(all)) {}

  Comm comm;
  Index num_users = 0, num_items = 0;   // of all processes
  Index num_ratings = 0, num_test = 0;  // of all processes
  double mean = 0, scale = 1;

  // [local number]: global number. Local numbers are in random order. Users and
  // items without training ratings, which are here for the test only, come last.
  Array<Index> users, items;
  Index num_trained_users = 0, num_trained_items = 0;
  Array<Index> user_ratings, item_ratings;  // [local number]: number of training ratings on all processes

  std::vector<Array<LocalRating<Real>>> sub_epochs;  // training ratings, [sub-epoch]
  Array<LocalRating<Real>> test;
  Rotation rotation;  // of all processes
  std::vector<RotationStep> steps;
  RowMessages visits;             // fetches the rows of items that are tested here
  Array<LocalIndex> owned_items;  // items whose row this process has at the end of an epoch
};

struct RatingLayout {
  std::optional<int> num_sub_epochs;  // sub-epochs per epoch; empty: chosen
  bool is_stale_free = false;         // as many sub-epochs as needed; overrides num_sub_epochs
  bool centres = true;                // subtract the mean; false in models without biases
  std::uint64_t seed = 1;
  RowSize row;
  MachineModel machine;
};

// `own`: ratings of the users of this process; `rotation`: computed from those of all. Collective.
template <class Real>
DistRatings<Real> lay_out_ratings(const Comm& comm, const SplitRatings& own, Rotation&& rotation,
                                  const RatingLayout& layout);

// Rows of all users and items, on the root; empty on other processes.
template <class Real>
struct TrainedRows {
  RatingModel<Real> model;
  Array<Real> user_squares, item_squares;
};
template <class Real>
TrainedRows<Real> transposed(TrainedRows<Real> rows, RatingSide first);
template <class Real>
TrainedRows<Real> gather_model(const DistRatings<Real>& x, const RatingRows<Real>& users,
                               const RatingRows<Real>& items, const TravellingWords& words, int root = 0);

}  // namespace polyad
