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

// How many nodes of trees a part passes for each of its nonzeros, nonzeros included, over those of the whole
// tensor: more where fibers are in several parts. The constants are for nonzeros with nodes as the whole has
// them.
double nodes_ratio(const ModeLoads& loads, std::size_t part) {
  if (loads.nodes.empty() || loads[part].nonzeros == 0) return 1;
  return (1 + double(loads.nodes[part]) / double(loads[part].nonzeros)) / (1 + loads.nodes_per_nonzero);
}

// Of a part, for the nonzeros of one mode.
double multiply_seconds(const PartLoads& loads, int mode, std::size_t part, double num_components,
                        const MachineModel& machine) {
  // Rows of the other modes are fetched; those of the longest are the least often still in a cache.
  double longest = 0;
  for (int k = 0; k < int(loads.size()); ++k)
    if (k != mode) longest = std::max(longest, double(loads[k][part].touched));
  const double gather = machine.per_gather(longest * num_components * sizeof(double));
  return gather * num_components * double(loads[mode][part].nonzeros) * nodes_ratio(loads[mode], part);
}

// Of the slowest part, for the mode at a place of the order, of which the pass for the one before has done a
// share.
double rest_seconds(const PartLoads& loads, const FusedPasses& fused, std::size_t place,
                    double num_components, const MachineModel& machine) {
  const int before = fused.mode_order[place - 1], mode = fused.mode_order[place];
  double slowest = 0;
  for (std::size_t p = 0; p < loads[mode].size(); ++p) {
    const auto& part = loads[before][p];
    const double complete = part.nonzeros > 0 ? double(part.complete) / double(part.nonzeros) : 0;
    const double of_shared = loads[before].folds ? fused.saved_of_shared[place] : 0;
    const double saved = fused.saved[place] * complete + of_shared * (1 - complete);
    slowest = std::max(slowest, (1 - saved) * multiply_seconds(loads, mode, p, num_components, machine));
  }
  return slowest;
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
    maximum.multiply = std::max(maximum.multiply, multiply_seconds(loads, mode, p, n, machine));
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

PredictedTime predict_time(const PartLoads& loads, Index num_components, const MachineModel& machine,
                           const FusedPasses& fused) {
  std::vector<PredictedTime> modes;
  PredictedTime sum;
  for (int m = 0; m < int(loads.size()); ++m) {
    modes.push_back(predict_time(loads, m, num_components, machine));
    sum.multiply += modes.back().multiply;
    sum.update += modes.back().update;
    sum.communicate += modes.back().communicate;
  }
  // A mode is in one such pass at most: the most that is saved by those up to a place of the order, and by
  // those up to the one before.
  double most = 0, most_before = 0;
  for (std::size_t i = 1; i < fused.mode_order.size(); ++i) {
    const int mode = fused.mode_order[i];
    const double saved =
        modes[mode].multiply - rest_seconds(loads, fused, i, double(num_components), machine);
    const double with_this = most_before + saved;
    most_before = most;
    most = std::max(most, with_this);
  }
  sum.multiply -= most;
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
