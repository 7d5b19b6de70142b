#include "polyad/plan/predicted_time.hpp"

#include <algorithm>
#include <cmath>

#include "polyad/distributed/imbalance.hpp"

namespace polyad {

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
    const double exchange = machine.per_message * double(part.messages) +
                            machine.per_word * n * double(std::max(part.sent, part.received)) +
                            machine.per_packed_word * n * double(part.sent + part.received);
    maximum.multiply = std::max(maximum.multiply, gather * n * double(part.nonzeros));
    maximum.update = std::max(maximum.update, machine.per_row * n * n * double(part.owned));
    maximum.communicate = std::max(maximum.communicate, exchange);
    reduced = std::max(reduced, double(part.reduced));
  }
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
