#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "polyad/distributed/ratings/rotation_costs.hpp"
#include "polyad/distributed/ratings/row_messages.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"

namespace polyad {

// Ratings as training sees them. Users belong to one process; items to all that rate them, which take turns
// as the rotation says. Values are (rating - mean) / scale. Where items were dealt out, ratings were turned
// before: then items are what is called users here, and users what is called items.
template <class Real>
struct DistRatings {
  explicit DistRatings(Comm all) : comm(std::move(all)) {}

  Comm comm;
  Index num_users = 0, num_items = 0;   // of the whole
  Index num_ratings = 0, num_test = 0;  // likewise
  double mean = 0, scale = 1;

  // [local]: global. Under local numbers both are shuffled by the seed. Those that were not trained on, and
  // are here to be tested, come last.
  Array<Index> users, items;
  Index num_trained_users = 0, num_trained_items = 0;
  Array<Index> user_ratings, item_ratings;  // [local]: how many there are to learn from, on all processes

  std::vector<Array<LocalRating<Real>>> sub_epochs;  // training ratings by sub-epoch
  Array<LocalRating<Real>> test;
  Rotation rotation;  // of all processes
  std::vector<RotationStep> steps;
  RowMessages visits;             // brings rows of items that are tested here
  Array<LocalIndex> owned_items;  // those that this process has the row of at the end of an epoch
};

struct RatingLayout {
  std::optional<int> num_sub_epochs;  // empty: chosen
  bool is_stale_free = false;         // as many as that takes; num_sub_epochs is not looked at
  bool centres = true;                // on the mean; the plain model does not
  std::uint64_t seed = 1;
  RowSize row;
  MachineModel machine;
};

// `own` are ratings of users that this process has and no other, of which the rotation is. Collective.
template <class Real>
DistRatings<Real> lay_out_ratings(const Comm& comm, const SplitRatings& own, Rotation&& rotation,
                                  const RatingLayout& layout);

// The rows of all users and items, on the root; others get an empty model. `rows` are local. Collective.
template <class Real>
struct TrainedRows {
  RatingModel<Real> model;
  Array<Real> user_squares, item_squares;
};
template <class Real>
TrainedRows<Real> turned(TrainedRows<Real> rows, RatingSide first);
template <class Real>
TrainedRows<Real> gather_model(const DistRatings<Real>& x, const RatingRows<Real>& users,
                               const RatingRows<Real>& items, const TravellingWords& words, int root = 0);

}  // namespace polyad
