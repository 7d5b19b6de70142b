#include "polyad/dist/predicted_time.hpp"

#include <algorithm>
#include <cmath>

#include "polyad/dist/imbalance.hpp"

namespace polyad {

PredictedTime predict_time(const PartLoads& loads, Index num_components, const MachineModel& machine) {
  PredictedTime sum;
  const auto n = double(num_components);
  for (std::size_t m = 0; m < loads.size(); ++m) {
    const auto& parts = loads[m];
    double multiply = 0, update = 0, communicate = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const auto& part = parts[p];
      // Rows of the other modes are fetched; those of the longest are the least often still in a cache.
      double longest = 0;
      for (std::size_t k = 0; k < loads.size(); ++k)
        if (k != m) longest = std::max(longest, double(loads[k][p].touched));
      multiply =
          std::max(multiply, machine.per_gather(longest * n * sizeof(double)) * n * double(part.nonzeros));
      update = std::max(update, machine.per_row * n * n * double(part.owned));
      communicate =
          std::max(communicate, machine.per_message * double(part.messages) +
                                    machine.per_word * n * double(std::max(part.sent, part.received)) +
                                    machine.per_packed_word * n * double(part.sent + part.received));
    }
    const double stages = std::ceil(std::log2(double(parts.size())));
    sum.multiply += multiply;
    sum.update += update;
    // The all-reduce of the Gram matrix, too.
    sum.communicate += communicate + stages * (machine.per_message + machine.per_word * n * n);
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
