#include "polyad/distributed/ratings/rotation_costs.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>

#include "polyad/base/matrix.hpp"

namespace polyad {
namespace {

// What every part does in every sub-epoch: (part, sub-epoch).
struct RotationLoads {
  RotationLoads(Index num_parts, Index num_sub_epochs)
      : ratings(num_parts, num_sub_epochs),
        sent(num_parts, num_sub_epochs),
        received(num_parts, num_sub_epochs),
        messages(num_parts, num_sub_epochs) {}

  Matrix<Index> ratings, sent, received, messages;
};

// Rows that go the same way at the same time are one message.
void count_messages(std::vector<std::uint64_t> ways, Index num_parts, RotationLoads& loads) {
  std::ranges::sort(ways);
  const auto repeated = std::ranges::unique(ways);
  ways.erase(repeated.begin(), repeated.end());
  const auto parts = std::uint64_t(num_parts);
  for (const auto way : ways) ++loads.messages(Index(way / parts % parts), Index(way / parts / parts));
}

RotationLoads loads_of(const Rotation& rotation) {
  const auto& columns = rotation.columns;
  RotationLoads loads(rotation.num_parts(), rotation.num_sub_epochs);
  for (Index s = 0; s < columns.num_shares(); ++s)
    loads.ratings(columns.parts[s], rotation.sub_epoch[s]) += columns.ratings[s];
  std::vector<std::uint64_t> reduced, expanded;
  const auto count_into = [&](std::vector<std::uint64_t>& ways) {
    return [&](const RowMove& move) {
      const int from = columns.parts[move.from], to = columns.parts[move.to];
      ++loads.sent(from, move.sub_epoch);
      ++loads.received(to, move.sub_epoch);
      const auto parts = std::uint64_t(rotation.num_parts());
      ways.push_back((std::uint64_t(move.sub_epoch) * parts + std::uint64_t(from)) * parts +
                     std::uint64_t(to));
    };
  };
  for_each_move(rotation, count_into(reduced), count_into(expanded));
  count_messages(std::move(reduced), rotation.num_parts(), loads);
  count_messages(std::move(expanded), rotation.num_parts(), loads);
  return loads;
}

Index largest_sum(const Matrix<Index>& loads) {
  Index maximum = 0;
  for (Index part = 0; part < loads.num_rows(); ++part) {
    const auto row = loads.row(part);
    maximum = std::max(maximum, std::accumulate(row.begin(), row.end(), Index(0)));
  }
  return maximum;
}

Index total(const Matrix<Index>& loads) {
  return std::accumulate(loads.flat().begin(), loads.flat().end(), Index(0));
}

// A rating reads and writes two rows: as much as four rows that are gathered.
double predict_seconds(const RotationLoads& loads, const RowSize& row, const MachineModel& machine) {
  const double per_rating = 4 * machine.per_near_gather * double(row.num_factors);
  const double per_row = double(row.num_words) * (machine.per_word + machine.per_packed_word) *
                         double(row.word_bytes) / sizeof(double);
  double seconds = 0;
  for (Index t = 0; t < loads.ratings.num_cols(); ++t) {
    double learn = 0, communicate = 0;
    for (Index part = 0; part < loads.ratings.num_rows(); ++part) {
      learn = std::max(learn, per_rating * double(loads.ratings(part, t)));
      communicate = std::max(communicate, per_row * double(loads.sent(part, t) + loads.received(part, t)) +
                                              machine.per_message * double(loads.messages(part, t)));
    }
    seconds += learn + communicate;
  }
  return seconds;
}

// The fewest sub-epochs with enough progress, of which more sub-epochs never have less.
Index fewest_with_progress(const ColumnShares& columns) {
  Index too_few = 0, enough = std::max(columns.max_connectivity(), Index(1));
  while (enough - too_few > 1) {
    const Index middle = too_few + (enough - too_few) / 2;
    (rotation_progress(columns, middle) >= least_progress ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace

RotationCosts costs_of(const Rotation& rotation, const RowSize& row, const MachineModel& machine) {
  const auto loads = loads_of(rotation);
  RotationCosts costs;
  costs.volume_rows = total(loads.sent);
  costs.max_volume_rows = largest_sum(loads.sent);
  costs.messages = total(loads.messages);
  costs.max_messages = largest_sum(loads.messages);
  costs.staleness_rows = rotation_staleness(rotation.columns, rotation.num_sub_epochs);
  costs.max_connectivity = rotation.columns.max_connectivity();
  for (Index t = 0; t < loads.ratings.num_cols(); ++t) {
    Index maximum = 0;
    for (Index part = 0; part < loads.ratings.num_rows(); ++part)
      maximum = std::max(maximum, loads.ratings(part, t));
    costs.critical_ratings += maximum;
  }
  costs.mean_ratings = double(total(loads.ratings)) / rotation.num_parts();
  costs.predicted_seconds = predict_seconds(loads, row, machine);
  costs.progress = rotation_progress(rotation.columns, rotation.num_sub_epochs);
  return costs;
}

int choose_sub_epochs(const ColumnShares& columns, const RowSize& row, const MachineModel& machine) {
  const Index fewest = fewest_with_progress(columns), most = std::max(columns.max_connectivity(), Index(1));
  std::set<Index> candidates{fewest, most};
  for (Index n = 1; n < most; n *= 2)
    if (n > fewest) candidates.insert(n);
  int best = int(fewest);
  double least = std::numeric_limits<double>::infinity();
  for (const Index n : candidates) {
    const double seconds = costs_of(plan_rotation(columns, int(n)), row, machine).seconds_of_progress();
    if (seconds >= least) continue;
    least = seconds;
    best = int(n);
  }
  return best;
}

}  // namespace polyad
