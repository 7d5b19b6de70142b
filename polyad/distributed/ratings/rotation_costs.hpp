#pragma once

#include <vector>

#include "polyad/base/machine_model.hpp"
#include "polyad/distributed/ratings/rotation.hpp"

namespace polyad {

// Costs of an epoch of a rotation, in rows:
// a row has as many words as RowSize says.
struct RotationCosts {
  Index volume_rows = 0, max_volume_rows = 0;  // sent by all parts; by the part that sends the most
  Index messages = 0, max_messages = 0;        // sent by all parts; by the part that sends the most
  Index staleness_rows = 0;                    // rows updated by several parts at once
  Index max_connectivity = 0;                  // most parts that share a column
  // Sum over the sub-epochs of the maximum, and of the mean, of the ratings of a part.
  Index critical_ratings = 0;
  double mean_ratings = 0;
  double predicted_seconds = 0;

  double schedule_ratio() const { return mean_ratings > 0 ? double(critical_ratings) / mean_ratings : 1; }
};

// Size of a row that is communicated.
struct RowSize {
  Index num_factors = 1, num_words = 1;  // factors, and words of `word_bytes` that are sent
  Index word_bytes = 4;
};

RotationCosts costs_of(const Rotation& rotation, const RowSize& row, const MachineModel& machine);

// Chooses the number of sub-epochs: the smallest that leaves at most 5 % of the
// staleness of one sub-epoch, among those predicted to take at most 1.2 times as
// long as the fastest; if there is none, the fastest of those that leave so little.
struct SyncChoice {
  int num_sub_epochs = 1;
  double predicted_seconds = 0, quickest_seconds = 0;
};
SyncChoice choose_sub_epochs(const ColumnShares& columns, const RowSize& row, const MachineModel& machine);

}  // namespace polyad
