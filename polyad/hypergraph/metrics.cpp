#include "polyad/hypergraph/metrics.hpp"

#include <algorithm>
#include <cmath>

#include "polyad/base/parallel.hpp"

namespace polyad::hypergraph {

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

// [lambda]: number of nets that touch this number of parts, and the sum of their costs.
struct LambdaCounts {
  std::vector<Index> nets, weight;

  explicit LambdaCounts(int num_parts)
      : nets(std::size_t(num_parts) + 1, 0), weight(std::size_t(num_parts) + 1, 0) {}
  void add(const LambdaCounts& other) {
    for (std::size_t lambda = 0; lambda < nets.size(); ++lambda) {
      nets[lambda] += other.nets[lambda];
      weight[lambda] += other.weight[lambda];
    }
  }
};

LambdaCounts count_lambdas(const Hypergraph& h, std::span<const int> parts, int num_parts) {
  auto of_threads = std::vector<LambdaCounts>(std::size_t(num_threads()), LambdaCounts(num_parts));
  parallel_parts(h.num_nets(), [&](Index begin, Index end, int thread) {
    PartCounter counter(num_parts);
    for (Index net = begin; net < end; ++net) {
      const Index lambda = counter.lambda(h.pins(net), parts, net);
      ++of_threads[thread].nets[lambda];
      of_threads[thread].weight[lambda] += h.net_weight(net);
    }
  });
  for (std::size_t thread = 1; thread < of_threads.size(); ++thread) of_threads[0].add(of_threads[thread]);
  return std::move(of_threads[0]);
}

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
  auto counts = count_lambdas(h, parts, num_parts);
  for (Index lambda = 1; lambda <= num_parts; ++lambda) {
    if (counts.nets[lambda] > 0) metrics.lambda_max = lambda;
    if (lambda == 1) continue;
    metrics.cut_nets += counts.nets[lambda];
    metrics.connectivity += counts.weight[lambda] * (lambda - 1);
    metrics.lambda_power += double(counts.weight[lambda]) * std::pow(double(lambda), rho);
  }
  metrics.nets_by_lambda = std::move(counts.nets);
  add_weights(h, parts, num_parts, metrics);
  return metrics;
}

double Objective::cost_of_next(Index lambda) const {
  if (kind == Kind::connectivity) return 1;
  if (lambda <= 1) return std::pow(2.0, rho);
  return std::pow(double(lambda + 1), rho) - std::pow(double(lambda), rho);
}

Index Objective::units_of_next(Index lambda) const {
  const bool is_whole = kind == Kind::connectivity || rho == std::floor(rho);
  return std::llround(cost_of_next(lambda) * (is_whole ? 1 : 8));
}

double Objective::of(const PartitionMetrics& metrics) const {
  return kind == Kind::connectivity ? double(metrics.connectivity) : metrics.lambda_power;
}

}  // namespace polyad::hypergraph
