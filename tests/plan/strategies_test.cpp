#include "polyad/plan/strategies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "polyad/base/error.hpp"
#include "polyad/comm/process_grid.hpp"
#include "polyad/distributed/repeated_nonzeros.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/random_tensor.hpp"

namespace polyad {
namespace {

using Partition = DistributionOptions::Partition;

TEST(FindRepeated, finds_all_but_the_first_of_equal_coordinates) {
  for (const auto& extents : test::odd_shapes())
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto x = test::random_tensor(extents, 60, seed);
      std::set<std::vector<Index>> seen;
      std::vector<Index> expected;
      for (Index z = 0; z < x.num_nonzeros(); ++z) {
        std::vector<Index> at;
        for (int m = 0; m < x.order(); ++m) at.push_back(x.indices(m)[z]);
        if (!seen.insert(at).second) expected.push_back(z);
      }
      EXPECT_EQ(find_repeated(x), expected);
    }
}

// 4 x 2, two nonzeros in each of four rows, two parts with two rows each: the columns are shared.
SparseTensor<double> full_matrix() {
  SparseTensor<double> x({4, 2});
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 2; ++j) x.append(std::vector<Index>{i, j}, 1);
  return x;
}

TEST(StrategyCost, is_that_of_a_hand_made_example) {
  const auto x = full_matrix();
  const Distributor distributor(Comm::self(), x, 2, 1);
  const LoadPlanner planner(Comm::self(), x);
  DistributionOptions options;
  options.is_replicated = std::vector<bool>{false, false};

  // Both parts touch both columns and own one each: a partial sum goes, a new row comes, each way.
  const auto medium = distributor.medium(GridShape({2, 1}), {});
  const auto cost = cost_of(plan_loads(planner, medium, options, 3, {}).loads, 3, {});
  ASSERT_EQ(cost.modes.size(), 2u);
  EXPECT_EQ(cost.modes[0].nonzeros.max, 4);
  EXPECT_EQ(cost.modes[0].words.max, 0);
  EXPECT_EQ(cost.modes[1].words.max, 6);
  EXPECT_EQ(cost.modes[1].words.avg, 6);
  EXPECT_EQ(cost.modes[1].messages.max, 2);
  EXPECT_EQ(cost.volume_words, 12);
  EXPECT_EQ(cost.max_volume_words, 6);
  EXPECT_EQ(cost.messages, 4);
  EXPECT_EQ(cost.max_messages, 2);
  EXPECT_EQ(cost.all_reduced_words, 0);
  EXPECT_EQ(cost.imbalance.nnz + cost.imbalance.volume + cost.imbalance.rows, 0);

  // Coarse: for its column, a part touches all four rows and owns two; for its rows, both columns.
  const auto coarse = cost_of(plan_loads(planner, distributor.coarse_block(), options, 3, {}).loads, 3, {});
  EXPECT_EQ(coarse.modes[0].words.max, 6);
  EXPECT_EQ(coarse.modes[1].words.max, 3);
  EXPECT_EQ(coarse.volume_words, 18);
  EXPECT_EQ(coarse.messages, 4);

  // Replicated, nothing of the columns is exchanged.
  options.is_replicated = std::vector<bool>{false, true};
  const auto reduced = plan_loads(planner, medium, options, 3, {});
  EXPECT_EQ(reduced.is_replicated, *options.is_replicated);
  EXPECT_EQ(cost_of(reduced.loads, 3, {}).volume_words, 0);
  EXPECT_EQ(cost_of(reduced.loads, 3, {}).all_reduced_words, 6);
}

TEST(StrategyCost, sums_up_what_the_parts_have) {
  int n = 0;
  for (const auto& shape : test::problem_shapes())
    for (const int num_parts : {1, 2, 6, 30}) {
      const auto x = test::tame_tensor(shape.extents, std::min<Index>(shape.num_nonzeros, 400),
                                       std::uint64_t(++n), shape.heavy);
      const Distributor distributor(Comm::self(), x, num_parts, 3);
      const LoadPlanner planner(Comm::self(), x);
      for (const auto& strategy : fine_strategies(distributor, {})) {
        const auto loads = plan_loads(planner, strategy.make(), {}, 5, {}).loads;
        const auto cost = cost_of(loads, 5, {});
        double words = 0, messages = 0, nonzeros = 0;
        Index received = 0;
        for (std::size_t m = 0; m < loads.size(); ++m) {
          words += cost.modes[m].words.avg * num_parts;
          messages += cost.modes[m].messages.avg * num_parts;
          nonzeros += cost.modes[m].nonzeros.avg * num_parts;
          EXPECT_LE(cost.modes[m].words.avg, double(cost.modes[m].words.max) + 1e-9);
          for (const auto& part : loads[m]) received += 5 * part.received;
        }
        EXPECT_NEAR(words, double(cost.volume_words), 1e-6);
        EXPECT_NEAR(messages, double(cost.messages), 1e-6);
        EXPECT_NEAR(nonzeros, double(x.num_nonzeros() * x.order()), 1e-6);
        EXPECT_EQ(received, cost.volume_words);
        EXPECT_LE(cost.max_volume_words * num_parts, cost.volume_words * num_parts);
      }
    }
}

TEST(PredictedTime, divides_what_threads_share_among_them) {
  const auto x = test::tame_tensor({300, 200, 100}, 20000, 3);
  const Distributor distributor(Comm::self(), x, 4, 1);
  const auto loads = LoadPlanner(Comm::self(), x).loads(distributor.medium(GridShape({2, 2, 1}), {}));
  const MachineModel one;
  const auto alone = predict_time(loads, 8, one), eight = predict_time(loads, 8, one.with_threads(8));
  EXPECT_NEAR(eight.multiply, alone.multiply / 8, 1e-12);
  EXPECT_NEAR(eight.update, alone.update / 8, 1e-12);
  auto packs_for_nothing = one;
  packs_for_nothing.per_packed_word = 0;
  const auto messages = predict_time(loads, 8, packs_for_nothing).communicate;
  EXPECT_NEAR(eight.communicate - messages, (alone.communicate - messages) / 8, 1e-12);
  EXPECT_EQ(predict_time(loads, 8, one.with_threads(8).with_threads(1)).seconds(), alone.seconds());
}

TEST(Strategies, of_fine_grain_compare_greedy_and_balanced_owners) {
  DistributionOptions options;
  EXPECT_EQ(row_rules_to_compare(Scheme::fine, options), (std::vector{RowRule::greedy, RowRule::balanced}));
  EXPECT_TRUE(row_rules_to_compare(Scheme::medium, options).empty());
  options.row_rule = RowRule::random;
  EXPECT_EQ(row_rules_to_compare(Scheme::fine, options), std::vector{RowRule::random});
}

TEST(PlanLoads, replicates_where_that_is_predicted_to_be_clearly_faster) {
  const auto x = test::tame_tensor({4000, 3000, 3}, 20000, 4);
  const Distributor distributor(Comm::self(), x, 64, 1);
  const LoadPlanner planner(Comm::self(), x);
  const auto distribution = distributor.medium(GridShape({8, 8, 1}), {});
  DistributionOptions direct;
  direct.exchange = {{Exchange::Kind::direct, 0}};
  const auto chosen = plan_loads(planner, distribution, direct, 4, {});
  EXPECT_TRUE(chosen.is_replicated[2]) << "64 processes send 3 rows to each other";
  EXPECT_FALSE(chosen.is_replicated[0]);
  auto none = direct;
  none.is_replicated = std::vector<bool>(3, false);
  const auto exchanged = plan_loads(planner, distribution, none, 4, {});
  EXPECT_LT(predict_time(chosen.loads, 4, {}).seconds(), predict_time(exchanged.loads, 4, {}).seconds());
  EXPECT_TRUE(plan_loads(planner, distributor.coarse_block(), {}, 4, {}).is_replicated.empty());
}

TEST(PlanLoads, takes_stages_where_they_are_predicted_to_be_faster) {
  const auto x = test::tame_tensor({4000, 3000, 40}, 20000, 4);
  const LoadPlanner planner(Comm::self(), x);
  for (const int num_parts : {8, 31, 32, 200, 1000}) {
    const Distributor distributor(Comm::self(), x, num_parts, 1);
    for (const auto& distribution :
         {distributor.fine_random(), distributor.fine_block(), distributor.coarse_block()})
      for (const bool may_replicate : {false, true}) {
        const auto seconds = [&](const StrategyLoads& planned) {
          return predict_time(planned.loads, 4, {}).seconds();
        };
        DistributionOptions options;
        if (!may_replicate) options.is_replicated = std::vector<bool>(3, false);
        const auto chosen = plan_loads(planner, distribution, options, 4, {});
        options.exchange = {{Exchange::Kind::direct, 0}};
        const auto direct = plan_loads(planner, distribution, options, 4, {});
        EXPECT_TRUE(direct.num_stages.empty());
        EXPECT_LE(seconds(chosen), seconds(direct)) << num_parts;
        if (num_parts < min_parts_to_route) {
          EXPECT_TRUE(chosen.num_stages.empty());
          EXPECT_EQ(chosen.loads, direct.loads);
        }
        options.exchange = {{Exchange::Kind::routed, 2}};
        const auto two = plan_loads(planner, distribution, options, 4, {});
        for (int m = 0; m < 3; ++m) {
          const bool is_routed = two.is_replicated.empty() || !two.is_replicated[m];
          EXPECT_EQ(two.loads[m].stages.size(), is_routed ? 2U : 0U);
        }
      }
  }
}

TEST(Strategies, are_all_that_was_asked_for) {
  const auto x = test::tame_tensor({60, 50, 40}, 500, 2);
  const Distributor distributor(Comm::self(), x, 8, 1);
  DistributionOptions options;
  EXPECT_EQ(coarse_strategies(distributor, options).size(), 2u);
  EXPECT_EQ(fine_strategies(distributor, options).size(), 2u);
  const auto medium = medium_strategies(distributor, options);
  EXPECT_GE(medium.size(), 6u) << "six ways to give two twos to three modes";
  for (const auto& strategy : medium) {
    const auto made = strategy.make();
    EXPECT_EQ(made.grid, strategy.grid);
    EXPECT_EQ(made.policy, strategy.policy);
    EXPECT_EQ(made.row_rule, RowRule::even);
    EXPECT_EQ(made.partition, strategy.partition);
    EXPECT_EQ(made.num_parts, 8);
  }
  options.partition = Partition::random;
  EXPECT_EQ(coarse_strategies(distributor, options).size(), 1u);
  EXPECT_TRUE(medium_strategies(distributor, options).empty());
  options.scheme = Scheme::fine;
  options.row_rule = RowRule::random;
  EXPECT_TRUE(coarse_strategies(distributor, options).empty());
  ASSERT_EQ(fine_strategies(distributor, options).size(), 1u);
  EXPECT_EQ(fine_strategies(distributor, options)[0].make().row_rule, RowRule::random);
  options.scheme = Scheme::medium;
  EXPECT_THROW(medium_strategies(distributor, options), Error);
}

// On any landscape of times with one valley, the fastest grid is among those that are tried.
TEST(ExploreMedium, finds_the_bottom_of_a_valley) {
  const auto x = test::tame_tensor({60, 50, 40, 30}, 500, 2);
  for (const int parts : {16, 64, 81}) {
    const Distributor distributor(Comm::self(), x, parts, 1);
    for (const auto& bottom : all_grids(4, parts)) {
      std::vector<std::string> tried;
      bool is_found = false;
      explore_medium(distributor, {}, 2, [&](const Strategy& strategy) {
        tried.push_back(describe(strategy));
        is_found = is_found || strategy.grid == bottom;
        double distance = 0;
        for (int m = 0; m < 4; ++m)
          distance += std::abs(std::log(double(strategy.grid->dim(m)) / bottom.dim(m)));
        return distance;
      });
      EXPECT_TRUE(is_found) << to_string(bottom);
      std::ranges::sort(tried);
      EXPECT_TRUE(std::ranges::adjacent_find(tried) == tried.end()) << "each is predicted once";
    }
  }
}

TEST(ExploreMedium, keeps_to_what_is_given) {
  const auto x = test::tame_tensor({60, 50, 40}, 500, 2);
  const Distributor distributor(Comm::self(), x, 8, 1);
  const auto tried = [&](const DistributionOptions& options) {
    std::vector<std::string> names;
    explore_medium(distributor, options, 2, [&](const Strategy& strategy) {
      const auto made = strategy.make();
      EXPECT_EQ(describe(made), describe(strategy));
      EXPECT_EQ(made.rows.empty(), strategy.row_rule != RowRule::even);
      return double(names.emplace_back(describe(strategy)).size());
    });
    return names;
  };
  using Names = std::vector<std::string>;
  DistributionOptions options;
  options.grid = GridShape({2, 4, 1});
  options.policy = LayerPolicy{LayerPolicy::Kind::set};
  EXPECT_EQ(tried(options),
            (Names{"medium 2x4x1 set", "medium 2x4x1 set greedy", "medium 2x4x1 set balanced"}));
  options.row_rule = RowRule::greedy;
  EXPECT_EQ(tried(options), Names{"medium 2x4x1 set greedy"});
  options.policy = {};
  EXPECT_EQ(tried(options).size(), all_policies().size());
  options.row_rule = RowRule::random;
  EXPECT_EQ(tried(options), Names{});
}

}  // namespace
}  // namespace polyad
