#include "polyad/plan/predicted_time.hpp"

#include <algorithm>
#include <cmath>

#include "polyad/distributed/imbalance.hpp"

namespace polyad {
namespace {

// Of a part, for the rows of its load or of a stage of it.
template <class Load>
double exchange_seconds(const Load& load, double num_components, const MachineModel& machine) {
  return machine.per_message * double(load.messages) +
         machine.per_word * num_components * double(std::max(load.sent, load.received)) +
         machine.per_packed_word * num_components * double(load.sent + load.received);
}

// Every stage waits for the slowest part of the one before.
double stage_seconds(const ModeLoads& loads, double num_components, const MachineModel& machine) {
  double seconds = 0;
  for (const auto& stage : loads.stages) {
    double slowest = 0;
    for (const auto& load : stage)
      slowest = std::max(slowest, exchange_seconds(load, num_components, machine));
    seconds += slowest;
  }
  return seconds;
}

}  // namespace

PredictedTime predict_time(const PartLoads& loads, int mode, Index num_components,
                           const MachineModel& machine) {
  const auto n = double(num_components);
  const auto& parts = loads[mode];
  PredictedTime maximum;
  double reduced = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto& part = parts[p];
    // Rows of the other modes are fetched; those of the longest are the least often still in a cache.
    double longest = 0;
    for (int k = 0; k < int(loads.size()); ++k)
      if (k != mode) longest = std::max(longest, double(loads[k][p].touched));
    const double gather = machine.per_gather(longest * n * sizeof(double));
    maximum.multiply = std::max(maximum.multiply, gather * n * double(part.nonzeros));
    maximum.update = std::max(maximum.update, machine.per_row * n * n * double(part.owned));
    if (parts.stages.empty())
      maximum.communicate = std::max(maximum.communicate, exchange_seconds(part, n, machine));
    reduced = std::max(reduced, double(part.reduced));
  }
  maximum.communicate += stage_seconds(parts, n, machine);
  // All-reduces: of the Gram matrix, in stages; of whole rows, each word twice over, as good ones do it.
  const double stages = std::ceil(std::log2(double(loads.num_parts())));
  maximum.communicate += stages * (machine.per_message + machine.per_word * n * n);
  if (reduced > 0)
    maximum.communicate +=
        2 * (stages * machine.per_message + reduced * n * (machine.per_word + machine.per_packed_word));
  return maximum;
}

PredictedTime predict_time(const PartLoads& loads, Index num_components, const MachineModel& machine) {
  PredictedTime sum;
  for (int m = 0; m < int(loads.size()); ++m) {
    const auto mode = predict_time(loads, m, num_components, machine);
    sum.multiply += mode.multiply;
    sum.update += mode.update;
    sum.communicate += mode.communicate;
  }
  return sum;
}

Imbalance imbalance_of(const PartLoads& loads) {
  std::vector<double> nonzeros(loads.front().size()), volume(nonzeros), rows(nonzeros);
  for (const auto& parts : loads)
    for (std::size_t p = 0; p < parts.size(); ++p) {
      nonzeros[p] += double(parts[p].nonzeros);
      volume[p] += double(parts[p].sent + parts[p].received);
      rows[p] += double(parts[p].owned);
    }
  return {imbalance_ratio(nonzeros), imbalance_ratio(volume), imbalance_ratio(rows)};
}

}  // namespace polyad
