#include "polyad/plan/plan_strategies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "polyad/plan/strategy_memory.hpp"
#include "tests/support/factor_problem.hpp"

namespace polyad {
namespace {

StrategyPlan plan(const SparseTensor<double>& x, StrategyPlanOptions options) {
  Progress silent;
  return plan_strategies(x, options, silent);
}

SparseTensor<double> some_tensor(std::uint64_t seed) {
  return test::tame_tensor({300, 200, 40}, 3000, seed);
}

TEST(PlanStrategies, lists_every_strategy_on_every_number_of_processes) {
  const auto found = plan(some_tensor(1), {.process_counts = {1, 2, 8}, .num_components = 4});
  std::set<std::pair<int, std::string>> names;
  for (const auto& planned : found.strategies)
    EXPECT_TRUE(names.insert({planned.processes, describe(planned)}).second) << describe(planned);
  EXPECT_EQ(std::ranges::count(found.strategies, 1, &PlannedStrategy::processes), 1);
  for (const int processes : {2, 8})
    for (const char* name : {"coarse block", "coarse random", "fine block", "fine random"})
      EXPECT_TRUE(names.contains({processes, name})) << name;
  for (const char* policy :
       {"nnz", "set", "ordered-1", "ordered-2", "max-min", "weighted-1", "weighted-4", "interleaved-4"})
    EXPECT_TRUE(names.contains({2, std::string("medium 1x2x1 ") + policy})) << policy;
}

TEST(PlanStrategies, recommends_the_least_predicted_time_of_those_that_fit) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto x = some_tensor(seed);
    StrategyPlanOptions options{.process_counts = {1, 3, 6}, .num_components = Index(2 * seed)};
    const auto free = plan(x, options);
    std::vector<Index> needs;
    for (const auto& planned : free.strategies) {
      EXPECT_TRUE(planned.fits);
      needs.push_back(planned.memory_bytes);
    }
    std::ranges::sort(needs);
    options.max_bytes = needs[needs.size() / 2];
    const auto tight = plan(x, options);

    for (const auto* found : {&free, &tight}) {
      ASSERT_TRUE(found->recommended);
      const auto& best = found->strategies[*found->recommended];
      EXPECT_TRUE(best.fits);
      for (const auto& planned : found->strategies)
        EXPECT_TRUE(!planned.fits || planned.seconds() >= best.seconds());
      for (const int processes : options.process_counts)
        if (const auto here = found->recommended_on(processes)) {
          EXPECT_EQ(found->strategies[*here].processes, processes);
          EXPECT_GE(found->strategies[*here].seconds(), best.seconds());
        }
    }
    EXPECT_LT(std::ranges::count(tight.strategies, true, &PlannedStrategy::fits),
              std::ssize(tight.strategies));
    for (const auto& planned : tight.strategies)
      EXPECT_EQ(planned.fits, planned.memory_bytes <= options.max_bytes);
    options.max_bytes = 1000;
    const auto none = plan(x, options);
    EXPECT_FALSE(none.recommended);
    EXPECT_NE(none.reason.find("fits into 1 kB per process"), std::string::npos) << none.reason;
  }
}

TEST(PlanStrategies, sorts_by_processes_and_time) {
  const auto found = plan(some_tensor(3), {.process_counts = {2, 5, 12}, .num_components = 8});
  for (std::size_t s = 1; s < found.strategies.size(); ++s) {
    const auto &a = found.strategies[s - 1], &b = found.strategies[s];
    EXPECT_TRUE(a.processes < b.processes || (a.processes == b.processes && a.seconds() <= b.seconds()));
  }
}

TEST(PlanStrategies, says_when_a_partition_pays) {
  auto x = some_tensor(2);
  // Nonzeros that belong together, where no contiguous slices have them.
  std::vector<int> parts(std::size_t(x.num_nonzeros()));
  for (Index z = 0; z < x.num_nonzeros(); ++z) parts[z] = int(x.indices(0)[z] % 4);
  StrategyPlanOptions options{.process_counts = {4}, .num_components = 8};
  options.further = [&](const Distributor& distributor) {
    return std::vector<Strategy>{
        {Scheme::fine, "file", {}, {}, RowRule::greedy, [&] { return distributor.fine_listed(parts); }}};
  };
  const auto found = plan(x, options);
  const auto cheap = std::ranges::find_if(
      found.strategies, [](const auto& planned) { return planned.strategy.partition == "block"; });
  EXPECT_EQ(cheap->break_even_iterations, 0);
  EXPECT_EQ(std::ranges::count(found.strategies, std::string("file"),
                               [](const auto& planned) { return planned.strategy.partition; }),
            2)
      << "with greedy and with balanced owners";
  for (const auto& planned : found.strategies) {
    EXPECT_GE(planned.partition_seconds, 0);
    const double saved = cheap->seconds() - planned.seconds();
    const double extra = planned.partition_seconds - cheap->partition_seconds;
    if (&planned == &*cheap) continue;
    EXPECT_EQ(planned.break_even_iterations.has_value(), saved > 0) << describe(planned);
    if (!planned.break_even_iterations) continue;
    EXPECT_GE(double(*planned.break_even_iterations) * saved, extra - 1e-12);
    EXPECT_LT(double(*planned.break_even_iterations - 1) * saved, std::max(extra, 0.0) + 1e-12);
  }
}

TEST(PlanStrategies, counts_duplicates_once) {
  SparseTensor<double> x({3, 3}), once({3, 3});
  for (Index i = 0; i < 3; ++i) {
    for (int times = 0; times < 5; ++times) x.append(std::vector<Index>{i, (2 * i) % 3}, 1);
    once.append(std::vector<Index>{i, (2 * i) % 3}, 5);
  }
  const auto found = plan(x, {.process_counts = {1, 3}, .num_components = 2});
  EXPECT_EQ(found.num_nonzeros, 3);
  EXPECT_EQ(found.num_duplicates, 12);
  for (const auto& planned : found.strategies)
    for (const auto& mode : planned.cost.modes) {
      EXPECT_NEAR(mode.nonzeros.avg * planned.processes, 3, 1e-9);
      EXPECT_LE(mode.nonzeros.max, 3);
    }
}

TEST(PlanStrategies, takes_any_order_and_more_processes_than_nonzeros) {
  for (const int order : {2, 3, 5, 6, 16}) {
    const std::vector<Index> extents(std::size_t(order), 4);
    const auto x = test::tame_tensor(extents, 7, std::uint64_t(order));
    std::vector<int> counts{1, 7, 64};
    if (order < 5) counts.push_back(30030);
    const auto found = plan(x, {.process_counts = counts, .num_components = 3});
    ASSERT_TRUE(found.recommended);
    for (const auto& planned : found.strategies) {
      EXPECT_TRUE(std::isfinite(planned.seconds()) && planned.seconds() > 0);
      EXPECT_GT(planned.memory_bytes, 0);
      EXPECT_EQ(std::ssize(planned.cost.modes), order);
      if (planned.processes == 1) {
        EXPECT_EQ(planned.cost.volume_words + planned.cost.messages, 0);
      }
    }
  }
}

TEST(PlanStrategies, is_the_same_again) {
  const auto x = some_tensor(9);
  const auto one = plan(x, {.process_counts = {6}}), other = plan(x, {.process_counts = {6}});
  ASSERT_EQ(one.strategies.size(), other.strategies.size());
  EXPECT_EQ(one.recommended, other.recommended);
  EXPECT_EQ(one.reason, other.reason);
  for (std::size_t s = 0; s < one.strategies.size(); ++s) {
    EXPECT_EQ(describe(one.strategies[s]), describe(other.strategies[s]));
    EXPECT_EQ(one.strategies[s].cost.volume_words, other.strategies[s].cost.volume_words);
    EXPECT_EQ(one.strategies[s].seconds(), other.strategies[s].seconds());
  }
}

TEST(MemoryNeed, grows_with_nonzeros_rows_and_copies) {
  const auto need = [](Index nonzeros, Index rows, Scheme scheme) {
    PartLoad load{.nonzeros = nonzeros, .touched = rows, .local = rows, .owned = rows};
    const PartLoads loads(3, std::vector<PartLoad>{load, load});
    return memory_need(loads, scheme, 16, 0).bytes;
  };
  const Index base = need(1000000, 1000, Scheme::fine);
  EXPECT_GT(base, 1000000 * 20);
  EXPECT_GT(need(2000000, 1000, Scheme::fine), base);
  EXPECT_GT(need(1000000, 1000000, Scheme::fine), base + 3 * 999000 * 16 * 8 - 60000000);
  EXPECT_GT(need(1000000, 1000, Scheme::coarse), base);
}

}  // namespace
}  // namespace polyad
