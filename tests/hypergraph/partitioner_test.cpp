#include "polyad/hypergraph/partitioner.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <set>

#include "polyad/hypergraph/balance.hpp"
#include "polyad/hypergraph/models.hpp"
#include "polyad/hypergraph/partition_tensor.hpp"
#include "polyad/hypergraph/previous_partition.hpp"
#include "polyad/hypergraph/recursive_bisection.hpp"
#include "polyad/hypergraph/tilings.hpp"
#include "tests/support/random_hypergraph.hpp"
#include "tests/support/random_tensor.hpp"

namespace polyad::hypergraph {
namespace {

using test::Weights;

// Groups of slices that share no nonzeros with other groups, their numbers shuffled: there is a partition
// that cuts nothing.
SparseTensor<double> separate_groups(int num_groups, Index slices_of_group, Index nonzeros_of_group,
                                     std::uint64_t seed) {
  const Index extent = num_groups * slices_of_group;
  SparseTensor<double> x({extent, extent, extent});
  const Random random(seed, 3);
  std::uint64_t draw = 0;
  for (int group = 0; group < num_groups; ++group)
    for (Index i = 0; i < nonzeros_of_group; ++i) {
      std::array<Index, 3> at{};
      for (auto& index : at)
        index = Index(random.below(std::uint64_t(slices_of_group), draw++)) * num_groups + group;
      x.append(at, 1);
    }
  return x;
}

TEST(Partitioner, keeps_its_promises_on_any_hypergraph) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index num_vertices = 1 + Index(seed * seed % 700);
    const auto h = test::random_hypergraph(num_vertices, num_vertices / 2 + 1, seed,
                                           seed % 2 ? Weights::random : Weights::equal, 1 + int(seed % 4));
    PartitionOptions options;
    options.num_parts = seed % 6 == 0 ? 100 : 1 + int(seed % 9);
    options.effort = Effort(seed % 3);
    options.seed = seed;
    if (seed % 4 == 0) options.objective.kind = Objective::Kind::lambda_power;
    const auto result = partition_hypergraph(h, options);
    ASSERT_EQ(std::ssize(result.parts), num_vertices);
    for (const int part : result.parts) ASSERT_TRUE(part >= 0 && part < options.num_parts);
    EXPECT_EQ(result.metrics.connectivity,
              measure_partition(h, result.parts, options.num_parts).connectivity);
    EXPECT_EQ(result.metrics.empty_parts, std::max<Index>(options.num_parts - num_vertices, 0)) << seed;
    EXPECT_FALSE(result.was_cut_short);
    if (seed % 2 == 1) continue;  // of random weights a balanced partition need not exist
    const auto limits = part_limits(h, options.num_parts, options.imbalance);
    EXPECT_LE(std::ranges::max(result.metrics.part_weights[0]), limits[0][0]);
  }
}

TEST(Partitioner, finds_groups_that_nothing_connects) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto model = fine_model(separate_groups(8, 30, 3000, seed));
    PartitionOptions options;
    options.num_parts = 8;
    options.seed = seed;
    EXPECT_EQ(partition_hypergraph(model.h, options).metrics.connectivity, 0);
  }
}

TEST(Partitioner, does_not_depend_on_the_number_of_threads) {
  const auto model = fine_model(separate_groups(20, 40, 1500, 1));
  PartitionOptions options;
  options.num_parts = 7;
  const auto one = partition_hypergraph(model.h, options);
  const int threads = omp_get_max_threads();
  for (const int other : {1, 2, 5}) {
    omp_set_num_threads(other);
    EXPECT_EQ(partition_hypergraph(model.h, options).parts, one.parts);
  }
  omp_set_num_threads(threads);
  options.seed = 2;
  EXPECT_NE(partition_hypergraph(model.h, options).parts, one.parts);
}

// Few vertices for many parts, none of which can have its share exactly.
TEST(Partitioner, is_no_less_even_than_parts_at_random_where_the_balance_cannot_be_kept) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto nets = test::random_hypergraph(100, 400, seed);
    const Random random(seed, 5);
    Array<Index> weights;
    for (std::uint64_t v = 0; v < 100; ++v) weights.push_back(40 + Index(random.below(30, v)));
    const Hypergraph h(100, nets.pins(), {}, {weights});
    PartitionOptions options;
    options.num_parts = 40;
    options.seed = seed;
    if (seed % 2 == 0) options.objective.kind = Objective::Kind::lambda_power;
    const auto limits = part_limits(h, options.num_parts, options.imbalance);
    const auto even = measure_partition(h, random_parts(h, limits, seed), options.num_parts);
    const auto result = partition_hypergraph(h, options);
    EXPECT_LE(result.metrics.imbalance[0], std::max(even.imbalance[0], 0.05)) << seed;
  }
}

TEST(Partitioner, is_never_worse_than_its_starts) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto x = test::random_tensor({30, 40, 20}, 2000, seed);
    const auto model = fine_model(x);
    PartitionOptions options;
    options.num_parts = 12;
    options.effort = Effort::fast;
    Index least = std::numeric_limits<Index>::max();
    for (const auto& make : all_tilings(model.cells, 12)) {
      auto tiling = make();
      least = std::min(least, measure_partition(model.h, tiling.parts, 12).connectivity);
      options.starts.push_back(std::move(tiling.parts));
    }
    EXPECT_LE(partition_hypergraph(model.h, options).metrics.connectivity, least);
  }
}

TEST(Partitioner, tells_of_better_partitions_as_it_finds_them) {
  const auto model = fine_model(separate_groups(20, 40, 1500, 1));
  PartitionOptions options;
  options.num_parts = 7;
  options.effort = Effort::best;
  std::vector<double> costs;
  std::vector<int> last;
  options.on_better = [&](std::span<const int> parts, double cost) {
    costs.push_back(cost);
    last.assign(parts.begin(), parts.end());
  };
  const auto result = partition_hypergraph(model.h, options);
  EXPECT_TRUE(std::ranges::is_sorted(costs, std::greater{}));
  EXPECT_EQ(last, result.parts);
  EXPECT_EQ(costs.back(), double(result.metrics.connectivity));
}

TEST(Partitioner, stops_in_time_with_a_balanced_partition) {
  const auto model = fine_model(separate_groups(20, 40, 1500, 1));
  PartitionOptions options;
  options.num_parts = 16;
  options.time_limit_seconds = 0;
  const auto result = partition_hypergraph(model.h, options);
  EXPECT_TRUE(result.was_cut_short);
  EXPECT_LE(result.metrics.imbalance[0], 0.05);
  EXPECT_EQ(result.metrics.empty_parts, 0);
}

// A tensor that has grown: most vertices stay where they were.
TEST(Partitioner, refines_an_older_partition) {
  const auto model = fine_model(separate_groups(8, 30, 3000, 4));
  PartitionOptions options;
  options.num_parts = 8;
  auto previous = partition_hypergraph(model.h, options).parts;
  const auto whole = previous;
  for (std::size_t v = 0; v < previous.size(); v += 3) previous[v] = new_vertex;
  options.previous = previous;
  const auto result = partition_hypergraph(model.h, options);
  EXPECT_EQ(result.metrics.connectivity, 0);
  EXPECT_EQ(result.parts, whole);
}

TEST(PreviousPartition, leaves_room_for_new_slices_in_every_mode) {
  const std::vector<int> previous{0, 1, 2, 3, 4};
  const std::vector<Index> was{2, 1, 2}, is{3, 1, 4};
  EXPECT_EQ(parts_of_grown_modes(previous, was, is),
            (std::vector{0, 1, new_vertex, 2, 3, 4, new_vertex, new_vertex}));
  EXPECT_EQ(parts_of_grown_modes(previous, was, was), previous);
}

TEST(EveryMethod, gives_every_part_something_and_keeps_the_balance_of_equal_vertices) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index num_vertices = 1 + Index(seed * seed % 300);
    const bool is_equal = seed % 3 != 0;
    const auto h = test::random_hypergraph(num_vertices, num_vertices / 2 + 1, seed,
                                           is_equal ? Weights::equal : Weights::random, 1 + int(seed % 2));
    for (const auto method : {PartitionMethod::hypergraph, PartitionMethod::bisection, PartitionMethod::block,
                              PartitionMethod::random}) {
      PartitionOptions options;
      options.num_parts = int(seed % 5 == 0 ? num_vertices : 1 + Index(seed * 7 % 40));
      options.effort = Effort::fast;
      const auto result = partition_by(h, method, options);
      EXPECT_EQ(result.metrics.empty_parts, std::max<Index>(options.num_parts - num_vertices, 0))
          << seed << " " << to_string(method);
      const auto limits = part_limits(h, options.num_parts, options.imbalance);
      if (is_equal) {
        EXPECT_LE(std::ranges::max(result.metrics.part_weights[0]), limits[0][0])
            << seed << " " << to_string(method);
      }
    }
  }
}

// One vertex is as heavy as all others together.
TEST(EveryMethod, gives_every_part_something_beside_a_heavy_vertex) {
  for (const Index heavy : {0, 7, 19}) {
    Array<Index> weights(20, 1);
    weights[std::size_t(heavy)] = 19;
    const Hypergraph h(20, {}, {}, {weights});
    for (const auto method : {PartitionMethod::hypergraph, PartitionMethod::bisection, PartitionMethod::block,
                              PartitionMethod::random}) {
      PartitionOptions options;
      options.num_parts = 8;
      EXPECT_EQ(partition_by(h, method, options).metrics.empty_parts, 0) << heavy << " " << to_string(method);
    }
  }
}

// Weights of vertices of which some are heavier than a part should be, in each constraint others.
std::vector<Array<Index>> weights_with_giants(Index num_vertices, Index num_giants, int num_constraints,
                                              std::uint64_t seed) {
  const Random random(seed, 7);
  std::uint64_t draw = 0;
  std::vector<Array<Index>> weights;
  for (int c = 0; c < num_constraints; ++c) {
    auto& of = weights.emplace_back();
    for (Index v = 0; v < num_vertices; ++v)
      of.push_back(v % num_constraints == c ? 1 + Index(random.below(3, draw++)) : 0);
    for (Index giant = 0; giant < num_giants; ++giant) {
      const Index place = Index(random.below(std::uint64_t(num_vertices / num_constraints), draw++));
      of[place * num_constraints + c] = 3 * num_vertices + Index(random.below(1000, draw++));
    }
  }
  return weights;
}

TEST(PartLimits, are_those_of_what_vertices_leave_that_fill_a_part_alone) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index num_vertices = 1 + Index(seed * 13 % 90);
    const Random random(seed, 8);
    Array<Index> weights;
    for (Index v = 0; v < num_vertices; ++v)
      weights.push_back(Index(1000 / (1 + double(random.below(60, std::uint64_t(v))))) - 16);
    const Hypergraph h(num_vertices, {}, {}, {weights});
    const int num_parts = 1 + int(seed * 7 % 40);
    const double imbalance = seed % 3 == 0 ? 0 : 0.05;
    const auto limits = part_limits(h, num_parts, imbalance);
    const Index limit = limits[0][0];
    EXPECT_EQ(limits[0], std::vector<Index>(std::size_t(num_parts), limit));
    Index rest = 0, num_giants = 0;
    for (const Index weight : weights) {
      num_giants += weight > limit;
      rest += weight > limit ? 0 : weight;
    }
    ASSERT_LT(num_giants, num_parts);
    const double fair = double(rest) / double(num_parts - num_giants);
    EXPECT_GE(limit, Index(std::floor(fair * (1 + imbalance) - 1e-6))) << seed;
    // More only where vertices cannot be distributed so evenly; at random means the heaviest first.
    const LimitedWeights limited(h, limits);
    const auto even = measure_partition(limited.h(), random_parts(limited.h(), limits, seed), num_parts);
    EXPECT_LE(std::ranges::max(even.part_weights[0]), limit) << seed;
    const double attained = std::max(fair, double(std::ranges::max(even.part_weights[0])));
    EXPECT_LE(double(limit), std::max({fair * (1 + imbalance), attained + 1, 1.0})) << seed;
  }
}

TEST(EveryMethod, lets_a_heavy_vertex_fill_its_part_and_keeps_the_limit_of_the_others) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const int num_constraints = 1 + int(seed % 3), num_parts = seed % 4 == 0 ? 40 : 6 + int(seed % 9);
    const Index num_vertices = 600 * num_constraints, num_giants = 1 + Index(seed % 5);
    const auto nets = test::random_hypergraph(num_vertices, 200, seed);
    const Hypergraph h(num_vertices, nets.pins(), {},
                       weights_with_giants(num_vertices, num_giants, num_constraints, seed));
    for (const auto method :
         {PartitionMethod::hypergraph, PartitionMethod::bisection, PartitionMethod::random}) {
      PartitionOptions options;
      options.num_parts = num_parts;
      options.seed = seed;
      options.effort = Effort::fast;
      if (seed % 6 == 0) options.objective.kind = Objective::Kind::lambda_power;
      const auto limits = part_limits(h, num_parts, options.imbalance);
      const auto result = partition_by(h, method, options);
      for (int c = 0; c < num_constraints; ++c) {
        const Index limit = limits[std::size_t(c)][0];
        auto allowed = std::vector<Index>(std::size_t(num_parts), limit);
        for (Index v = 0; v < num_vertices; ++v) {
          auto& of_part = allowed[std::size_t(result.parts[std::size_t(v)])];
          of_part = std::max(of_part, h.vertex_weight(v, c));
        }
        for (std::size_t part = 0; part < allowed.size(); ++part)
          EXPECT_LE(result.metrics.part_weights[std::size_t(c)][part], allowed[part])
              << seed << " " << to_string(method);
      }
    }
  }
}

TEST(RecursiveBisection, gives_any_number_of_balanced_parts) {
  for (const int num_parts : {2, 3, 5, 8, 13}) {
    const auto model = fine_model(separate_groups(13, 20, 500, 3));
    PartitionOptions options;
    options.num_parts = num_parts;
    options.objective.kind = Objective::Kind::lambda_power;
    options.effort = Effort::fast;
    const auto result = bisect_recursively(model.h, options);
    EXPECT_EQ(std::set<int>(result.parts.begin(), result.parts.end()).size(), std::size_t(num_parts));
    EXPECT_LE(result.metrics.imbalance[0], 0.05) << num_parts;
    const auto random = random_parts(model.h, part_limits(model.h, num_parts, 0.05), 1);
    EXPECT_LT(result.metrics.lambda_power, 0.6 * measure_partition(model.h, random, num_parts).lambda_power);
  }
}

// Few heavy vertices for each part, so that bisections cannot be even.
Hypergraph few_heavy_vertices(std::uint64_t seed) {
  const Index num_vertices = 60 + Index(seed % 5) * 30;
  const auto nets = test::random_hypergraph(num_vertices, 300, seed);
  const Random random(seed, 6);
  Array<Index> weights;
  for (Index v = 0; v < num_vertices; ++v)
    weights.push_back(1 + Index(random.below(seed % 2 == 0 ? 40 : 400, std::uint64_t(v))));
  return {num_vertices, nets.pins(), {}, {weights}};
}

TEST(RecursiveBisection, keeps_the_balance_where_parts_at_random_do) {
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (const int num_parts : {3, 8, 20}) {
      const auto h = few_heavy_vertices(seed);
      PartitionOptions options;
      options.num_parts = num_parts;
      options.seed = seed;
      options.effort = Effort::fast;
      options.objective.kind = Objective::Kind::lambda_power;
      const auto limits = part_limits(h, num_parts, options.imbalance);
      const auto result = bisect_recursively(h, options);
      const auto weights = std::ranges::max(result.metrics.part_weights[0]);
      const auto even = measure_partition(h, random_parts(h, limits, 1), num_parts);
      EXPECT_LE(weights, std::max(std::ranges::max(even.part_weights[0]), limits[0][0])) << seed;
      kept += weights <= limits[0][0] ? 1 : 0;
    }
  EXPECT_GT(kept, 70);
}

TEST(PowerOfConnectivity, is_never_worse_than_bisection_or_than_plain_connectivity) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const auto h = seed % 3 == 0 ? few_heavy_vertices(seed)
                                 : test::random_hypergraph(50 + Index(seed) * 20, 200, seed, Weights::equal);
    PartitionOptions options;
    options.num_parts = 2 + int(seed * seed % 31);
    options.seed = seed;
    options.effort = seed % 2 == 0 ? Effort::fast : Effort::normal;
    options.objective = {Objective::Kind::lambda_power, seed % 4 == 0 ? 1.5 : 2.0};
    const auto limits = part_limits(h, options.num_parts, options.imbalance);
    const auto found = partition_by(h, PartitionMethod::hypergraph, options);
    const auto by_bisection = partition_by(h, PartitionMethod::bisection, options);
    auto plain = options;
    plain.objective.kind = Objective::Kind::connectivity;
    const auto for_connectivity = partition_by(h, PartitionMethod::hypergraph, plain);
    for (const auto& other : {by_bisection, for_connectivity}) {
      const bool is_balanced = std::ranges::max(other.metrics.part_weights[0]) <= limits[0][0];
      if (!is_balanced) continue;
      EXPECT_LE(std::ranges::max(found.metrics.part_weights[0]), limits[0][0]) << seed;
      EXPECT_LE(found.metrics.lambda_power,
                measure_partition(h, other.parts, options.num_parts, options.objective.rho).lambda_power)
          << seed;
    }
  }
}

}  // namespace
}  // namespace polyad::hypergraph
