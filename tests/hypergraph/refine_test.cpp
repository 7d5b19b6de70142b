#include "polyad/hypergraph/refine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random_hypergraph.hpp"

namespace polyad::hypergraph {
namespace {

using test::Weights;

const std::vector<Objective> objectives{
    {}, {Objective::Kind::lambda_power, 2}, {Objective::Kind::lambda_power, 1}};

double cost(const Hypergraph& h, std::span<const int> parts, int num_parts, const Objective& objective) {
  return objective.of(measure_partition(h, parts, num_parts, objective.rho));
}

// Few parts and many, so that nets have lists and rows.
TEST(Refiner, knows_the_gain_of_every_move) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed)
    for (const auto& objective : objectives) {
      const int num_parts = seed % 3 == 0 ? 200 : 2 + int(seed % 7);
      const auto h = test::random_hypergraph(40, 30, seed, seed % 2 ? Weights::random : Weights::equal);
      auto parts = test::parts_at_random(40, num_parts, seed);
      const Refiner refiner(h, parts, part_limits(h, num_parts, 10), objective);
      const double before = cost(h, parts, num_parts, objective);
      for (Index v = 0; v < h.num_vertices(); ++v)
        for (int to = 0; to < num_parts; to += 1 + num_parts / 10) {
          if (to == parts[v]) continue;
          auto moved = parts;
          moved[v] = to;
          EXPECT_DOUBLE_EQ(double(refiner.gain(v, to)), before - cost(h, moved, num_parts, objective));
        }
    }
}

// Random parts of a random hypergraph, brought into balance if that is possible.
struct RefinedCase {
  RefinedCase(std::uint64_t seed, const Objective& of)
      : num_parts(seed % 5 == 0 ? 70 : 2 + int(seed % 6)),
        h(test::random_hypergraph(300, 200, seed, seed % 2 ? Weights::random : Weights::equal,
                                  1 + int(seed % 3))),
        limits(part_limits(h, num_parts, 0.1)),
        parts(random_parts(h, limits, seed)),
        objective(of),
        refiner(h, parts, limits, of),
        was_balanced(refiner.rebalance()) {}

  double cost() const { return hypergraph::cost(h, parts, num_parts, objective); }
  void expect_balance() const {
    const Balance balance(h, parts, limits);
    for (int part = 0; part < num_parts; ++part) {
      EXPECT_FALSE(was_balanced && balance.is_overloaded(part));
      EXPECT_GT(balance.num_vertices(part), 0);
    }
  }

  int num_parts;
  Hypergraph h;
  PartLimits limits;
  std::vector<int> parts;
  Objective objective;
  Refiner refiner;
  bool was_balanced;
};

TEST(Refiner, lowers_the_cost_and_keeps_the_balance) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (const auto& objective : objectives) {
      RefinedCase x(seed, objective);
      double last = x.cost();
      for (std::uint64_t pass = 0; pass < 5; ++pass) {
        x.refiner.pass(Affinity::exact(), pass);
        const double now = x.cost();
        EXPECT_LE(now, last);
        last = now;
      }
      x.refiner.pass(Affinity::smoothed(0.3), 9);
      x.expect_balance();
    }
}

// Also out of states that no single move improves.
TEST(Refiner, climbs_to_states_that_cost_less_and_takes_back_what_did_not_pay) {
  int num_better = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (const auto& objective : objectives) {
      RefinedCase x(seed, objective);
      for (std::uint64_t pass = 0; pass < 20; ++pass) x.refiner.pass(Affinity::exact(), pass);
      for (const Index max_fruitless : {0, 10, 300}) {
        const double before = x.cost();
        const auto gain = x.refiner.climb(max_fruitless);
        EXPECT_GE(gain, 0);
        EXPECT_DOUBLE_EQ(x.cost(), before - double(gain));
        num_better += gain > 0 ? 1 : 0;
        x.expect_balance();
      }
    }
  EXPECT_GT(num_better, 60);
}

TEST(Refiner, empties_parts_that_weigh_too_much) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto h = test::random_hypergraph(400, 100, seed);
    const auto limits = part_limits(h, 8, 0.03);
    std::vector<int> parts(400, int(seed % 8));
    EXPECT_TRUE(Refiner(h, parts, limits, {}).rebalance());
    EXPECT_LE(measure_partition(h, parts, 8).imbalance[0], 0.03);
  }
}

TEST(Affinity, grows_from_nothing_to_full) {
  for (const double chance : {0.05, 0.3, 0.5, 0.9}) {
    const auto affinity = Affinity::smoothed(chance);
    EXPECT_EQ(affinity(0), 0);
    for (Index n = 0; n < 200; ++n) EXPECT_LE(affinity(n), affinity(n + 1));
    EXPECT_EQ(affinity(1000), affinity.full());
    EXPECT_NEAR(affinity(1), affinity.full() * chance, 0.51);
  }
  EXPECT_EQ(Affinity::exact()(1), 1);
  EXPECT_EQ(Affinity::exact().full(), 1);
}

TEST(PinCounts, follow_moves) {
  for (const int num_parts : {3, 90, 1000}) {
    const auto h = test::random_hypergraph(50, 40, 7);
    auto parts = test::parts_at_random(50, num_parts, 3);
    PinCounts counts(h, parts, num_parts);
    for (std::uint64_t step = 0; step < 200; ++step) {
      const auto v = Index(Random(5, 1).below(50, step));
      const int to = int(Random(5, 2).below(std::uint64_t(num_parts), step));
      for (const auto net : h.nets(v)) counts.move_pin(net, parts[v], to);
      parts[v] = to;
    }
    const PinCounts fresh(h, parts, num_parts);
    for (Index net = 0; net < h.num_nets(); ++net) {
      EXPECT_EQ(counts.lambda(net), fresh.lambda(net));
      for (int part = 0; part < num_parts; ++part) EXPECT_EQ(counts.of(net, part), fresh.of(net, part));
    }
  }
}

}  // namespace
}  // namespace polyad::hypergraph
