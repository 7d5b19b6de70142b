#include "polyad/hypergraph/hypergraph.hpp"

#include <gtest/gtest.h>

#include <omp.h>

#include <cmath>
#include <map>
#include <set>

#include "polyad/hypergraph/clustering.hpp"
#include "polyad/hypergraph/metrics.hpp"
#include "tests/support/random_hypergraph.hpp"

namespace polyad::hypergraph {
namespace {

using test::Weights;

TEST(Hypergraph, knows_the_nets_of_a_vertex) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto h = test::random_hypergraph(1 + Index(seed), 2 * Index(seed), seed);
    std::set<std::pair<Index, Index>> by_net, by_vertex;
    for (Index net = 0; net < h.num_nets(); ++net)
      for (const auto v : h.pins(net)) by_net.emplace(v, net);
    for (Index v = 0; v < h.num_vertices(); ++v)
      for (const auto net : h.nets(v)) by_vertex.emplace(v, net);
    EXPECT_EQ(by_net, by_vertex);
    EXPECT_EQ(Index(by_net.size()), h.num_pins());
  }
}

std::set<int> parts_of_net(const Hypergraph& h, Index net, std::span<const int> parts) {
  std::set<int> touched;
  for (const auto v : h.pins(net)) touched.insert(parts[v]);
  return touched;
}

TEST(PartitionMetrics, are_what_counting_gives) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto h = test::random_hypergraph(30, 25, seed, seed % 2 ? Weights::random : Weights::equal, 2);
    const int num_parts = 1 + int(seed % 9);
    const auto parts = test::parts_at_random(30, num_parts, seed);
    const auto metrics = measure_partition(h, parts, num_parts, 1.5);
    Index connectivity = 0, cut = 0, most = 0;
    double power = 0;
    for (Index net = 0; net < h.num_nets(); ++net) {
      const auto lambda = Index(parts_of_net(h, net, parts).size());
      most = std::max(most, lambda);
      if (lambda < 2) continue;
      ++cut;
      connectivity += h.net_weight(net) * (lambda - 1);
      power += double(h.net_weight(net)) * std::pow(double(lambda), 1.5);
    }
    EXPECT_EQ(metrics.connectivity, connectivity);
    EXPECT_EQ(metrics.cut_nets, cut);
    EXPECT_EQ(metrics.lambda_max, most);
    EXPECT_NEAR(metrics.lambda_power, power, 1e-9 * power);
    EXPECT_EQ(metrics.empty_parts, num_parts - Index(std::set<int>(parts.begin(), parts.end()).size()));
    for (int c = 0; c < h.num_constraints(); ++c) {
      std::vector<double> weight(std::size_t(num_parts), 0);
      for (Index v = 0; v < 30; ++v) weight[parts[v]] += double(h.vertex_weight(v, c));
      const double mean = double(total_weight(h, c)) / num_parts;
      EXPECT_NEAR(metrics.imbalance[c], std::ranges::max(weight) / mean - 1, 1e-12);
    }
  }
}

TEST(Objective, charges_sixteen_for_a_net_in_four_parts) {
  const Objective squares{Objective::Kind::lambda_power, 2};
  double paid = 0;
  std::vector<double> steps;
  for (Index lambda = 1; lambda < 5; ++lambda) {
    steps.push_back(squares.cost_of_next(lambda));
    paid += lambda < 4 ? steps.back() : 0;
  }
  EXPECT_EQ(steps, (std::vector<double>{4, 5, 7, 9}));  // Abubaker et al. 2023, Algorithm 3
  EXPECT_EQ(paid, 16);
  EXPECT_EQ(Objective{}.cost_of_next(3), 1);
}

// Every partition of the clusters costs the same before and after.
TEST(Contract, keeps_what_partitions_cost) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto h = test::random_hypergraph(60, 50, seed, seed % 2 ? Weights::random : Weights::equal);
    ClusteringOptions options{{1 + Index(seed % 7)}, 5, seed, {}};
    options.max_weight[0] = std::max(options.max_weight[0], largest_weight(h, 0));
    const auto clustering = cluster_vertices(h, options);
    const auto coarse = contract(h, clustering);
    ASSERT_EQ(coarse.num_vertices(), clustering.num_clusters);
    EXPECT_EQ(total_weight(coarse, 0), total_weight(h, 0));
    EXPECT_LE(largest_weight(coarse, 0), options.max_weight[0]);
    std::set<std::vector<LocalIndex>> different;
    for (Index net = 0; net < coarse.num_nets(); ++net) {
      EXPECT_GE(coarse.net_size(net), 2);
      different.emplace(coarse.pins(net).begin(), coarse.pins(net).end());
    }
    EXPECT_EQ(Index(different.size()), coarse.num_nets());

    const auto coarse_parts = test::parts_at_random(coarse.num_vertices(), 4, seed);
    std::vector<int> parts;
    for (Index v = 0; v < h.num_vertices(); ++v) parts.push_back(coarse_parts[clustering.cluster_of[v]]);
    const auto fine = measure_partition(h, parts, 4), rough = measure_partition(coarse, coarse_parts, 4);
    EXPECT_EQ(fine.connectivity, rough.connectivity);
    EXPECT_DOUBLE_EQ(fine.lambda_power, rough.lambda_power);
    EXPECT_EQ(fine.part_weights, rough.part_weights);
  }
}

TEST(Clustering, stays_inside_parts_and_does_not_depend_on_threads) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto h = test::random_hypergraph(300, 200, seed);
    const auto parts = test::parts_at_random(300, 3, seed);
    const ClusteringOptions options{{10}, 40, seed, parts};
    const auto clustering = cluster_vertices(h, options);
    EXPECT_GE(clustering.num_clusters, 40);
    EXPECT_LT(clustering.num_clusters, 300);
    std::map<LocalIndex, int> part_of;
    for (Index v = 0; v < 300; ++v)
      EXPECT_EQ(part_of.emplace(clustering.cluster_of[v], parts[v]).first->second, parts[v]);
    const int threads = omp_get_max_threads();
    for (const int other : {1, 2, 5}) {
      omp_set_num_threads(other);
      EXPECT_EQ(cluster_vertices(h, options).cluster_of, clustering.cluster_of);
    }
    omp_set_num_threads(threads);
  }
}

}  // namespace
}  // namespace polyad::hypergraph
