#include "polyad/hypergraph/recursive_bisection.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>

#include "polyad/base/timings.hpp"
#include "polyad/hypergraph/keep_limits.hpp"

namespace polyad::hypergraph {

namespace {

struct Piece {
  std::vector<LocalIndex> vertices;  // ascending
  int first_part, num_parts;
};

// The nets of some vertices that can still be cut, with the cost of cutting them, renumbered.
struct PieceHypergraph {
  Hypergraph h;
  std::vector<LocalIndex> nets;  // [net]: its number in the whole
};

class Bisection {
 public:
  Bisection(const Hypergraph& h, const PartitionOptions& options)
      : original_(h),
        options_(options),
        limits_(part_limits(h, options.num_parts, options.imbalance)),
        limited_(h, limits_),
        h_(limited_.h()),
        lambda_(std::size_t(h.num_nets()), 1),
        number_(std::size_t(h.num_vertices()), none),
        parts_(std::size_t(h.num_vertices()), 0) {
    const double depth = std::ceil(std::log2(std::max(options.num_parts, 2)));
    imbalance_ = std::pow(1 + options.imbalance, 1 / depth) - 1;
  }

  PartitionResult run() {
    std::deque<Piece> pieces{{{}, 0, options_.num_parts}};
    for (Index v = 0; v < h_.num_vertices(); ++v) pieces[0].vertices.push_back(LocalIndex(v));
    for (; !pieces.empty(); pieces.pop_front()) {
      if (pieces.front().num_parts == 1) continue;
      for (auto& half : halves(pieces.front())) pieces.push_back(std::move(half));
    }
    keep_promises();
    auto metrics = measure_partition(original_, parts_, options_.num_parts, options_.objective.rho);
    return {std::move(parts_), std::move(metrics), was_cut_short_};
  }

 private:
  static constexpr LocalIndex none = LocalIndex(max_local_index);

  Index cost(Index net) const { return h_.net_weight(net) * options_.objective.units_of_next(lambda_[net]); }

  PieceHypergraph restricted_to(const Piece& piece) {
    for (std::size_t i = 0; i < piece.vertices.size(); ++i) number_[piece.vertices[i]] = LocalIndex(i);
    PieceHypergraph result;
    NumberLists pins;
    Array<Index> costs;
    for (Index net = 0; net < h_.num_nets(); ++net) {
      const auto before = pins.items.size();
      for (const auto v : h_.pins(net))
        if (number_[v] != none) pins.items.push_back(number_[v]);
      if (pins.items.size() < before + 2) {
        pins.items.resize(before);
        continue;
      }
      pins.begin.push_back(std::ssize(pins.items));
      costs.push_back(cost(net));
      result.nets.push_back(LocalIndex(net));
    }
    std::vector<Array<Index>> weights;
    for (int c = 0; c < h_.num_constraints(); ++c) {
      auto& of = weights.emplace_back();
      for (const auto v : piece.vertices) of.push_back(h_.vertex_weight(v, c));
    }
    for (const auto v : piece.vertices) number_[v] = none;
    result.h = Hypergraph(std::ssize(piece.vertices), std::move(pins), std::move(costs), std::move(weights));
    return result;
  }

  std::vector<Piece> halves(const Piece& piece) {
    const auto part = restricted_to(piece);
    PartitionOptions options;
    options.num_parts = 2;
    const int first = piece.num_parts / 2;
    options.shares = {double(first) / piece.num_parts, double(piece.num_parts - first) / piece.num_parts};
    options.imbalance = imbalance_;
    options.effort = options_.effort;
    options.seed = options_.seed + std::uint64_t(piece.first_part) * 7919 + std::uint64_t(piece.num_parts);
    options.time_limit_seconds = std::max(options_.time_limit_seconds - watch_.seconds(), 0.0);
    const auto result = partition_hypergraph(part.h, options);
    was_cut_short_ = was_cut_short_ || result.was_cut_short;
    for (Index net = 0; net < part.h.num_nets(); ++net)
      lambda_[part.nets[net]] += is_cut(part.h, net, result.parts);

    std::vector<Piece> halves{{{}, piece.first_part, first},
                              {{}, piece.first_part + first, piece.num_parts - first}};
    for (std::size_t i = 0; i < piece.vertices.size(); ++i) {
      auto& half = halves[std::size_t(result.parts[i])];
      half.vertices.push_back(piece.vertices[i]);
      parts_[piece.vertices[i]] = half.first_part;
    }
    return halves;
  }

  // Bisections that were each as uneven as they may be, and as vertices forced them to be, can add up.
  void keep_promises() {
    keep_limits(h_, parts_, limits_, options_.objective);
    fill_empty_parts(parts_, options_.num_parts);
  }

  static bool is_cut(const Hypergraph& h, Index net, std::span<const int> parts) {
    const auto pins = h.pins(net);
    return std::ranges::any_of(pins, [&](LocalIndex v) { return parts[v] != parts[pins[0]]; });
  }

  const Hypergraph& original_;
  const PartitionOptions& options_;
  PartLimits limits_;
  LimitedWeights limited_;
  const Hypergraph& h_;  // without vertices that are heavier than a part may be
  double imbalance_;
  std::vector<Index> lambda_;       // [net]: parts that it touches so far
  std::vector<LocalIndex> number_;  // [vertex]: in the piece
  std::vector<int> parts_;
  Stopwatch watch_;
  bool was_cut_short_ = false;
};

}  // namespace

PartitionResult bisect_recursively(const Hypergraph& h, const PartitionOptions& options) {
  assert(options.starts.empty() && options.previous.empty() && options.shares.empty());
  return Bisection(h, options).run();
}

}  // namespace polyad::hypergraph
