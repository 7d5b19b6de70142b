#pragma once

#include <vector>

#include "polyad/base/machine_model.hpp"
#include "polyad/distributed/ratings/rotation.hpp"

namespace polyad {

// What an epoch of a rotation asks of its parts, in rows: a row has as many words as an item has numbers that
// travel.
struct RotationCosts {
  Index volume_rows = 0, max_volume_rows = 0;  // sent by all parts; by one
  Index messages = 0, max_messages = 0;        // likewise
  Index staleness_rows = 0;
  Index max_connectivity = 0;
  // The sum over sub-epochs of the most ratings that a part has then, and of the mean.
  Index critical_ratings = 0;
  double mean_ratings = 0;
  double predicted_seconds = 0;

  double schedule_ratio() const { return mean_ratings > 0 ? double(critical_ratings) / mean_ratings : 1; }
};

// What a row of an item weighs.
struct RowSize {
  Index num_factors = 1, num_words = 1;  // words of `word_bytes` that travel
  Index word_bytes = 4;
};

RotationCosts costs_of(const Rotation& rotation, const RowSize& row, const MachineModel& machine);

// How many sub-epochs are worth having: the fewest that leave at most a twentieth of the staleness of one,
// among those that are predicted to take at most 1.2 times as long as the quickest; if there are none, the
// quickest of those that leave so little.
struct SyncChoice {
  int num_sub_epochs = 1;
  double predicted_seconds = 0, quickest_seconds = 0;
};
SyncChoice choose_sub_epochs(const ColumnShares& columns, const RowSize& row, const MachineModel& machine);

}  // namespace polyad
