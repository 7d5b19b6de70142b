#include "polyad/hypergraph/metrics.hpp"

#include <algorithm>
#include <cmath>

namespace polyad {

namespace {

class PartCounter {
 public:
  explicit PartCounter(int num_parts) : last_(std::size_t(num_parts), -1) {}

  Index lambda(std::span<const LocalIndex> pins, std::span<const int> parts, Index net) {
    Index lambda = 0;
    for (const auto v : pins)
      if (std::exchange(last_[parts[v]], net) != net) ++lambda;
    return lambda;
  }

 private:
  std::vector<Index> last_;  // [part]: the net in which it was seen last
};

void add_weights(const Hypergraph& h, std::span<const int> parts, int num_parts, PartitionMetrics& metrics) {
  for (int c = 0; c < h.num_constraints(); ++c) {
    auto& weights = metrics.part_weights.emplace_back(std::size_t(num_parts), 0);
    Index total = 0;
    for (Index v = 0; v < h.num_vertices(); ++v) {
      weights[parts[v]] += h.vertex_weight(v, c);
      total += h.vertex_weight(v, c);
    }
    const double mean = double(total) / num_parts;
    metrics.imbalance.push_back(total == 0 ? 0 : double(std::ranges::max(weights)) / mean - 1);
  }
  std::vector<bool> is_used(std::size_t(num_parts), false);
  for (const int part : parts) is_used[part] = true;
  metrics.empty_parts = std::ranges::count(is_used, false);
}

}  // namespace

PartitionMetrics measure_partition(const Hypergraph& h, std::span<const int> parts, int num_parts,
                                   double rho) {
  PartitionMetrics metrics;
  metrics.nets_by_lambda.assign(std::size_t(num_parts) + 1, 0);
  PartCounter counter(num_parts);
  for (Index net = 0; net < h.num_nets(); ++net) {
    const Index lambda = counter.lambda(h.pins(net), parts, net);
    ++metrics.nets_by_lambda[lambda];
    metrics.lambda_max = std::max(metrics.lambda_max, lambda);
    if (lambda < 2) continue;
    ++metrics.cut_nets;
    metrics.connectivity += h.net_weight(net) * (lambda - 1);
    metrics.lambda_power += double(h.net_weight(net)) * std::pow(double(lambda), rho);
  }
  add_weights(h, parts, num_parts, metrics);
  return metrics;
}

double Objective::cost_of_next(Index lambda) const {
  if (kind == Kind::connectivity) return 1;
  if (lambda <= 1) return std::pow(2.0, rho);
  return std::pow(double(lambda + 1), rho) - std::pow(double(lambda), rho);
}

double Objective::of(const PartitionMetrics& metrics) const {
  return kind == Kind::connectivity ? double(metrics.connectivity) : metrics.lambda_power;
}

}  // namespace polyad
