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
  double predicted_seconds = 0;  // of an epoch
  double progress = 1;           // rotation_progress

  // Time for what an epoch without staleness achieves: what counts on the way to a given error.
  double seconds_of_progress() const { return predicted_seconds / progress; }
  double schedule_ratio() const { return mean_ratings > 0 ? double(critical_ratings) / mean_ratings : 1; }
};

// Size of a row that is communicated.
struct RowSize {
  Index num_factors = 1, num_words = 1;  // factors, and words of `word_bytes` that are sent
  Index word_bytes = 4;
};

RotationCosts costs_of(const Rotation& rotation, const RowSize& row, const MachineModel& machine);

// Below this progress, the error after a given number of epochs is predicted to suffer noticeably.
inline constexpr double least_progress = 0.9;

// Chooses the number of sub-epochs: of those with at least `least_progress`, one that is predicted to
// take the least time to a given error. Looks at the smallest, at powers of two and at the largest of use.
int choose_sub_epochs(const ColumnShares& columns, const RowSize& row, const MachineModel& machine);

}  // namespace polyad
