#include "polyad/hypergraph/partitioner.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/hypergraph/grow_parts.hpp"
#include "polyad/hypergraph/keep_limits.hpp"
#include "polyad/hypergraph/multilevel.hpp"
#include "polyad/hypergraph/previous_partition.hpp"
#include "polyad/hypergraph/refine.hpp"

namespace polyad::hypergraph {

namespace {

// How the affinity of each pass is smoothed (1: exact). From a new start over long ranges first.
constexpr std::array first_passes{.1, .1, .2, .2, .3, .3, .5, .5, .5, .7, .7, 1., 1., 1., 1.};
constexpr std::array later_passes{.5, .5, .7, .7, 1., 1., 1., 1., 1.};

constexpr Index hardly_any = 100;  // vertices per move

// Of the given starts, those that are refined on the coarsest level.
constexpr std::size_t max_starts = 3;
// A start that costs this many times as much as the best refined one is not refined further.
constexpr double hopeless = 1.3;
// Nor is one that, after this number of passes, costs more than the best did then, by this fraction.
// That one is for few parts; the more there are, the less do starts differ by chance.
struct Hurdle {
  std::size_t passes;
  double fraction;

  double allowance(int num_parts) const { return 1 + fraction * std::min(1.0, 64.0 / num_parts); }
};
constexpr std::array hurdles{Hurdle{2, 0.25}, Hurdle{6, 0.15}, Hurdle{11, 0.02}};
// Clusters are heavy: so much above its limit, a part on the coarsest level is brought down on finer ones.
constexpr double mended_later = 0.02;

constexpr int max_parts_to_climb = 32, max_climbs = 5;
// With fewer parts only at the end: before, it leads to partitions from which passes gain less.
constexpr int min_parts_to_climb_early = 6;
constexpr Index max_vertices_to_climb = 200000;

struct Work {
  int random_starts, grown_starts, cycles;
};

Work work_of(Effort effort) {
  switch (effort) {
    case Effort::fast:
      return {1, 1, 0};
    case Effort::normal:
      return {3, 2, 1};
    case Effort::best:
      break;
  }
  return {5, 3, 5};
}

// The more parts there are, the less do starts differ by chance, and the more often a grown one is the best.
Work work_of(Effort effort, int num_parts) {
  constexpr int many = 128;
  auto work = work_of(effort);
  if (num_parts >= min_parts_to_climb_early && num_parts <= max_parts_to_climb) {
    work.random_starts *= 2;
    work.grown_starts *= 3;
  }
  if (num_parts > many) {
    work.random_starts = (work.random_starts + 2) / 3;
    work.grown_starts = (work.grown_starts + 1) / 2;
  }
  return work;
}

class Partitioner {
 public:
  Partitioner(const Hypergraph& h, const PartitionOptions& options)
      : original_(h),
        options_(options),
        limits_(part_limits(h, options.num_parts, options.imbalance, options.shares)),
        limited_(h, limits_),
        h_(limited_.h()) {}

  PartitionResult run() {
    const auto work = work_of(options_.effort, options_.num_parts);
    if (options_.previous.empty()) {
      take_best_start();
      consider(from_scratch(work));
    } else {
      consider(rebalanced(place_new_vertices(h_, options_.previous, limits_)));
    }
    const int cycles = options_.previous.empty() ? work.cycles : std::max(work.cycles, 1);
    for (int cycle = 0; cycle < cycles; ++cycle) improve_again(cycle);
    // A start that no refinement from scratch has reached is refined itself.
    if (is_start_) improve_again(cycles);
    if (options_.num_parts < min_parts_to_climb_early && !is_late()) consider(climbed(best_));
    if (best_rank_.overload > 0) keep_limits(h_, best_, limits_, options_.objective);
    fill_empty_parts(best_, options_.num_parts);
    auto metrics = measure_partition(original_, best_, options_.num_parts, options_.objective.rho);
    return {std::move(best_), std::move(metrics), was_cut_short_};
  }

 private:
  bool is_late() {
    was_cut_short_ = was_cut_short_ || watch_.seconds() > options_.time_limit_seconds;
    return was_cut_short_;
  }

  double cost(const Hypergraph& h, std::span<const int> parts) const {
    return options_.objective.of(measure_partition(h, parts, options_.num_parts, options_.objective.rho));
  }

  // Balance has priority over cost.
  struct Rank {
    double overload, price;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };

  void consider(std::vector<int> parts) {
    const Rank rank{overload_of(h_, parts, limits_), cost(h_, parts)};
    if (!best_.empty() && rank >= best_rank_) return;
    best_ = std::move(parts);
    best_rank_ = rank;
    is_start_ = false;
    if (options_.on_better) options_.on_better(best_, rank.price);
  }

  // Also puts the starts in order, the best first.
  void take_best_start() {
    std::vector<std::pair<double, std::size_t>> by_price;
    for (std::size_t s = 0; s < options_.starts.size(); ++s) {
      assert(std::ssize(options_.starts[s]) == h_.num_vertices());
      by_price.emplace_back(cost(h_, options_.starts[s]), s);
    }
    std::ranges::sort(by_price);
    for (const auto& [price, s] : by_price) ordered_starts_.push_back(&options_.starts[s]);
    for (const auto* start : ordered_starts_) consider(*start);
    is_start_ = !ordered_starts_.empty();
  }

  // Those of the passes from `first` on, up to `last`.
  void make_passes(Refiner& refiner, std::span<const double> passes, std::size_t first, std::size_t last,
                   std::uint64_t seed) {
    for (std::size_t i = first; i < last; ++i) {
      if (is_late()) return;
      const double chance = passes[i];
      const Index moved =
          refiner.pass(chance >= 1 ? Affinity::exact() : Affinity::smoothed(chance), seed + i + 1);
      // Where hardly anything moved, the same again would move less.
      if (moved * hardly_any <= refiner.num_vertices())
        while (i + 1 < last && passes[i + 1] == chance) ++i;
    }
  }

  void refine(const Hypergraph& h, std::vector<int>& parts, std::span<const double> passes,
              std::uint64_t seed) {
    if (is_late()) return;
    Refiner refiner(h, parts, limits_, options_.objective);
    refiner.rebalance();
    make_passes(refiner, passes, 0, passes.size(), seed);
    if (options_.num_parts >= min_parts_to_climb_early) climb(refiner);
  }

  // By single moves that may lose at first, where there are few parts and few vertices: such moves are made
  // one after the other, and passes gain as much where there are many parts.
  void climb(Refiner& refiner) {
    if (!options_.previous.empty()) return;  // most vertices are to stay where they were
    if (options_.num_parts > max_parts_to_climb || refiner.num_vertices() > max_vertices_to_climb) return;
    const Index max_fruitless = std::max<Index>(refiner.num_vertices() / 4, 1000);
    for (int round = 0; round < max_climbs && !is_late(); ++round)
      if (refiner.climb(max_fruitless) == 0) return;
  }

  std::vector<int> climbed(std::vector<int> parts) {
    Refiner refiner(h_, parts, limits_, options_.objective);
    climb(refiner);
    return parts;
  }

  std::vector<int> rebalanced(std::vector<int> parts) const {
    if (overload_of(h_, parts, limits_) == 0) return parts;
    Refiner(h_, parts, limits_, options_.objective).rebalance();
    return parts;
  }

  std::vector<int> uncoarsen(const Hierarchy& levels, std::vector<int> parts, std::uint64_t seed) {
    for (int level = levels.num_levels() - 2; level >= 0; --level) {
      parts = levels.refined(parts, level);
      refine(levels.level(level), parts, later_passes, seed + 100 * std::uint64_t(level));
    }
    return rebalanced(std::move(parts));
  }

  // What the best start cost at each hurdle; of those that came to keep the balance.
  using HurdlePrices = std::array<double, hurdles.size()>;

  // False where it was given up on the way.
  bool refine_start(const Hypergraph& h, std::vector<int>& parts, std::uint64_t seed, HurdlePrices& best) {
    Refiner refiner(h, parts, limits_, options_.objective);
    refiner.rebalance();
    std::size_t done = 0;
    for (std::size_t i = 0; i < hurdles.size(); ++i) {
      make_passes(refiner, first_passes, done, hurdles[i].passes, seed);
      done = hurdles[i].passes;
      const double price = cost(h, parts);
      if (price > hurdles[i].allowance(options_.num_parts) * best[i]) return false;
      best[i] = std::min(best[i], price);
    }
    make_passes(refiner, first_passes, done, first_passes.size(), seed);
    if (options_.num_parts >= min_parts_to_climb_early) climb(refiner);
    return true;
  }

  // The best of what new starts and the given ones become on the coarsest level.
  std::vector<int> from_scratch(const Work& work) {
    const Hierarchy levels(h_, limits_, {}, options_.seed);
    const Hypergraph& h = levels.coarsest();
    std::vector<int> best;
    Rank best_rank{};
    HurdlePrices prices;
    prices.fill(std::numeric_limits<double>::infinity());
    const auto take = [&](std::vector<int> parts, std::uint64_t seed) {
      auto reached = prices;
      if (!refine_start(h, parts, seed, reached)) return;
      const Rank rank{std::max(overload_of(h, parts, limits_) - mended_later, 0.0), cost(h, parts)};
      if (rank.overload == 0) prices = reached;
      if (!best.empty() && rank >= best_rank) return;
      best = std::move(parts);
      best_rank = rank;
    };
    // Those first that are the best more often.
    for (int s = 0; s < work.grown_starts && (s == 0 || !is_late()); ++s)
      take(grow_parts(h, limits_, options_.seed + std::uint64_t(s)), options_.seed);
    for (int s = 0; s < work.random_starts && !is_late(); ++s)
      take(random_parts(h, limits_, options_.seed + std::uint64_t(s)),
           options_.seed + 1000 * std::uint64_t(s));
    for (std::size_t s = 0; s < std::min(ordered_starts_.size(), max_starts) && !is_late(); ++s) {
      auto start = levels.coarsened(*ordered_starts_[s]);
      if (cost(h, start) <= hopeless * best_rank.price) take(std::move(start), options_.seed);
    }
    return uncoarsen(levels, std::move(best), options_.seed);
  }

  // Clusters inside the parts that there are, so that whole clusters can move.
  void improve_again(int cycle) {
    if (is_late()) return;
    const auto seed = options_.seed + 10000 * std::uint64_t(cycle + 1);
    const Hierarchy levels(h_, limits_, best_, seed);
    auto parts = levels.coarsened(best_);
    refine(levels.coarsest(), parts, later_passes, seed);
    consider(uncoarsen(levels, std::move(parts), seed));
  }

  const Hypergraph& original_;
  const PartitionOptions& options_;
  PartLimits limits_;
  LimitedWeights limited_;
  const Hypergraph& h_;  // without vertices that are heavier than a part may be
  Stopwatch watch_;
  std::vector<const std::vector<int>*> ordered_starts_;
  std::vector<int> best_;
  Rank best_rank_{};
  bool is_start_ = false;  // the best so far is one of the given starts
  bool was_cut_short_ = false;
};

void check([[maybe_unused]] const Hypergraph& h, const PartitionOptions& options) {
  if (options.num_parts < 1 || options.num_parts > max_parts)
    throw Error(Errc::bad_option, "expected 1 to " + std::to_string(max_parts) + " parts, found " +
                                      std::to_string(options.num_parts));
  if (!(options.imbalance >= 0)) throw Error(Errc::bad_option, "the imbalance must not be negative");
  assert(options.previous.empty() || std::ssize(options.previous) == h.num_vertices());
  assert(options.shares.empty() || std::ssize(options.shares) == options.num_parts);
}

}  // namespace

PartitionResult partition_hypergraph(const Hypergraph& h, const PartitionOptions& options) {
  check(h, options);
  if (options.num_parts == 1 || h.num_vertices() == 0) {
    std::vector<int> parts(std::size_t(h.num_vertices()), 0);
    auto metrics = measure_partition(h, parts, options.num_parts, options.objective.rho);
    return {std::move(parts), std::move(metrics), false};
  }
  return Partitioner(h, options).run();
}

}  // namespace polyad::hypergraph
