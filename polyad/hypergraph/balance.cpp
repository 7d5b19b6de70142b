#include "polyad/hypergraph/balance.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "polyad/hypergraph/shuffled.hpp"

namespace polyad::hypergraph {

namespace {

constexpr std::uint64_t balance_stream = 0x70617274;

// The shares of the parts that no heavy vertex fills, the largest of which are filled first.
class SharesLeft {
 public:
  explicit SharesLeft(std::span<const double> shares) : shares_(shares.begin(), shares.end()) {
    std::ranges::sort(shares_);
    std::partial_sum(shares_.begin(), shares_.end(), std::back_inserter(sums_));
  }

  std::size_t count() const { return shares_.size(); }
  double largest() const { return shares_.back() / sums_.back(); }
  // Of a part with this share of the whole; one that is filled counts as the largest of the others.
  double of(double share) const { return std::min(share / sums_.back(), largest()); }
  void fill_largest() {
    shares_.pop_back();
    sums_.pop_back();
  }

 private:
  std::vector<double> shares_, sums_;  // ascending, and the sum of those up to each
};

Index limit_of(double fair, double imbalance) {
  constexpr double rounding = 1e-12;
  return std::max({Index((1 + imbalance) * fair), Index(std::ceil(fair * (1 - rounding))), Index(1)});
}

// Of the heaviest part, if vertices go one by one, the heaviest first, to the lightest of equal parts.
Index evenly_distributed(std::vector<Index> weights, std::size_t num_parts) {
  std::ranges::sort(weights, std::ranges::greater{});
  std::vector<Index> heap(num_parts, 0);  // the lightest first
  Index heaviest = 0;
  for (const Index weight : weights) {
    std::ranges::pop_heap(heap, std::ranges::greater{});
    heap.back() += weight;
    heaviest = std::max(heaviest, heap.back());
    std::ranges::push_heap(heap, std::ranges::greater{});
  }
  return heaviest;
}

std::vector<Index> weights_of(const Hypergraph& h, int constraint) {
  std::vector<Index> weights;
  for (Index v = 0; v < h.num_vertices(); ++v)
    if (const Index weight = h.vertex_weight(v, constraint); weight > 0) weights.push_back(weight);
  return weights;
}

std::vector<Index> limits_of_constraint(const Hypergraph& h, int constraint, std::span<const double> shares,
                                        double imbalance) {
  SharesLeft left(shares);
  auto total = double(total_weight(h, constraint));
  Index required = 0;  // where vertices are too few to be distributed more evenly
  if (h.has_vertex_weights()) {
    auto weights = weights_of(h, constraint);
    std::ranges::make_heap(weights);
    while (!weights.empty() && weights.front() > limit_of(total * left.largest(), imbalance)) {
      total -= double(weights.front());
      left.fill_largest();
      std::ranges::pop_heap(weights);
      weights.pop_back();
    }
    if (std::ranges::min(shares) == std::ranges::max(shares))
      required = evenly_distributed(std::move(weights), left.count());
  }
  std::vector<Index> limits;
  for (const double share : shares)
    limits.push_back(std::max(limit_of(total * left.of(share), imbalance), required));
  return limits;
}

}  // namespace

PartLimits part_limits(const Hypergraph& h, int num_parts, double imbalance, std::span<const double> shares) {
  const std::vector<double> equal(std::size_t(num_parts), 1.0 / num_parts);
  if (shares.empty()) shares = equal;
  PartLimits limits;
  for (int c = 0; c < h.num_constraints(); ++c)
    limits.push_back(limits_of_constraint(h, c, shares, imbalance));
  return limits;
}

LimitedWeights::LimitedWeights(const Hypergraph& h, const PartLimits& limits) : original_(&h) {
  if (!h.has_vertex_weights()) return;  // all weigh 1, and limits are no less
  std::vector<Array<Index>> weights;
  bool is_limited = false;
  for (int c = 0; c < h.num_constraints(); ++c) {
    const Index maximum = std::ranges::max(limits[std::size_t(c)]);
    auto& of = weights.emplace_back(std::size_t(h.num_vertices()));
    for (Index v = 0; v < h.num_vertices(); ++v) {
      of[v] = std::min(h.vertex_weight(v, c), maximum);
      is_limited = is_limited || of[v] < h.vertex_weight(v, c);
    }
  }
  if (!is_limited) return;
  copy_ = h;
  copy_->set_vertex_weights(std::move(weights));
}

Balance::Balance(const Hypergraph& h, std::span<const int> parts, const PartLimits& limits)
    : h_(&h), num_constraints_(h.num_constraints()), remaining_(limits), num_vertices_(limits[0].size(), 0) {
  for (Index v = 0; v < h.num_vertices(); ++v) {
    ++num_vertices_[parts[v]];
    for (int c = 0; c < num_constraints_; ++c) remaining_[c][parts[v]] -= h.vertex_weight(v, c);
  }
}

void Balance::move(Index vertex, int from, int to) {
  --num_vertices_[from];
  ++num_vertices_[to];
  for (int c = 0; c < num_constraints_; ++c) {
    const Index weight = h_->vertex_weight(vertex, c);
    remaining_[c][from] += weight;
    remaining_[c][to] -= weight;
  }
}

bool Balance::evens_out(Index vertex, int from, int to) const {
  bool has_weight = false;
  for (int c = 0; c < num_constraints_; ++c) {
    const Index weight = h_->vertex_weight(vertex, c);
    if (weight > 0 && remaining_[c][to] - weight <= remaining_[c][from]) return false;
    has_weight = has_weight || weight > 0;
  }
  return has_weight;
}

void fill_empty_parts(std::span<int> parts, int num_parts) {
  std::vector<Index> count(std::size_t(num_parts), 0);
  for (const int part : parts) ++count[part];
  for (int empty = 0; empty < num_parts; ++empty) {
    if (count[empty] > 0) continue;
    const auto maximum = std::ranges::max_element(count);
    if (*maximum < 2) return;
    *std::ranges::find(parts, int(maximum - count.begin())) = empty;
    --*maximum;
    ++count[empty];
  }
}

int heaviest_constraint(const Hypergraph& h, Index vertex, const PartLimits& limits) {
  int heaviest = 0;
  double maximum = -1;
  for (int c = 0; c < h.num_constraints(); ++c) {
    const double share = double(h.vertex_weight(vertex, c)) / double(std::max<Index>(limits[c][0], 1));
    if (share > maximum) heaviest = c;
    maximum = std::max(maximum, share);
  }
  return heaviest;
}

std::vector<int> random_parts(const Hypergraph& h, const PartLimits& limits, std::uint64_t seed) {
  const auto num_parts = int(limits[0].size());
  std::vector<int> constraint(std::size_t(h.num_vertices()));
  for (Index v = 0; v < h.num_vertices(); ++v) constraint[v] = heaviest_constraint(h, v, limits);
  auto order = shuffled(h.num_vertices(), Random(seed, balance_stream));
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](Index v) { return h.vertex_weight(v, constraint[v]); });

  using Heap = std::vector<std::pair<Index, int>>;  // remaining capacity, and number of the part
  std::vector<Heap> heaps;
  for (const auto& of_parts : limits) {
    auto& heap = heaps.emplace_back();
    for (int part = 0; part < num_parts; ++part) heap.emplace_back(of_parts[part], num_parts - part);
    std::ranges::make_heap(heap);
  }
  std::vector<int> parts(std::size_t(h.num_vertices()));
  for (const auto v : order) {
    auto& heap = heaps[constraint[v]];
    std::ranges::pop_heap(heap);
    auto& [remaining, number] = heap.back();
    parts[v] = num_parts - number;
    remaining -= std::max<Index>(h.vertex_weight(v, constraint[v]), 1);
    std::ranges::push_heap(heap);
  }
  return parts;
}

std::vector<int> block_parts(const Hypergraph& h, const PartLimits& limits) {
  const auto num_parts = Index(limits[0].size());
  std::vector<std::vector<Index>> of_constraint(limits.size());  // the vertices of which it decides
  for (Index v = 0; v < h.num_vertices(); ++v)
    of_constraint[std::size_t(heaviest_constraint(h, v, limits))].push_back(v);
  std::vector<int> parts(std::size_t(h.num_vertices()));
  for (int c = 0; c < h.num_constraints(); ++c) {
    const auto& vertices = of_constraint[std::size_t(c)];
    const auto total = double(std::max<Index>(total_weight(h, c), 1));
    const Index count = std::ssize(vertices);
    Index before = 0, last = -1;
    for (Index i = 0; i < count; ++i) {
      const Index weight = h.vertex_weight(vertices[i], c);
      // Where the middle of the vertex lies; but no part is passed over where there are vertices for all.
      Index part =
          std::min(Index((double(before) + double(weight) / 2) * double(num_parts) / total), num_parts - 1);
      if (count >= num_parts) part = std::min(std::max(part, num_parts - count + i), last + 1);
      parts[vertices[i]] = int(part);
      last = part;
      before += weight;
    }
  }
  return parts;
}

double overload_of(const Hypergraph& h, std::span<const int> parts, const PartLimits& limits) {
  const Balance balance(h, parts, limits);
  double maximum = 0;
  for (int c = 0; c < h.num_constraints(); ++c)
    for (int part = 0; part < std::ssize(limits[0]); ++part) {
      const auto limit = double(std::max<Index>(limits[std::size_t(c)][std::size_t(part)], 1));
      maximum = std::max(maximum, -double(balance.remaining(part, c)) / limit);
    }
  return maximum;
}

}  // namespace polyad::hypergraph
