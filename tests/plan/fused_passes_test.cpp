#include "polyad/plan/fused_passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "polyad/plan/predicted_time.hpp"
#include "tests/support/factor_problem.hpp"

namespace polyad {
namespace {

TensorShape whole_shape(const SparseTensor<double>& x) {
  return shape_of_shares(Comm::self(), x, Distributor(Comm::self(), x, 1, 1).rows());
}

TEST(ShapeOfShares, counts_distinct_tuples_of_global_indices) {
  int n = 0;
  for (const auto& shape : test::problem_shapes()) {
    const auto x = test::tame_tensor(shape.extents, std::min<Index>(shape.num_nonzeros, 500),
                                     std::uint64_t(++n), shape.heavy);
    const auto found = whole_shape(x);
    EXPECT_EQ(found.num_nonzeros, x.num_nonzeros());
    for (const auto& [set, count] : found.distinct) {
      std::set<std::vector<Index>> tuples;
      for (Index z = 0; z < x.num_nonzeros(); ++z) {
        std::vector<Index> tuple;
        for (int m = 0; m < x.order(); ++m)
          if ((set >> m & 1) != 0) tuple.push_back(x.indices(m)[z]);
        tuples.insert(tuple);
      }
      EXPECT_NEAR(count, double(tuples.size()), 0.1 * double(tuples.size()) + 1);
    }
  }
}

TEST(FusedPasses, save_a_share_of_every_mode_but_the_first) {
  int n = 0;
  for (const auto& shape : test::problem_shapes()) {
    const auto x = test::tame_tensor(shape.extents, std::min<Index>(shape.num_nonzeros, 500),
                                     std::uint64_t(++n), shape.heavy);
    const auto whole = whole_shape(x);
    EXPECT_TRUE(fused_passes(whole, {}, 8).mode_order.empty()) << "none was allowed";
    std::vector<int> backwards(std::size_t(x.order()));
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    for (const auto& order : {std::vector<int>{}, backwards}) {
      const auto fused = fused_passes(whole, {true, order}, 8);
      if (x.order() < 3) {
        EXPECT_TRUE(fused.mode_order.empty());
        continue;
      }
      auto sorted = fused.mode_order;
      std::ranges::sort(sorted);
      EXPECT_TRUE(std::ranges::equal(sorted, std::vector(backwards.rbegin(), backwards.rend())));
      if (!order.empty()) {
        EXPECT_EQ(fused.mode_order, order);
      }
      ASSERT_EQ(fused.saved.size(), fused.mode_order.size());
      EXPECT_EQ(fused.saved.front(), 0);
      for (const double saved : fused.saved) EXPECT_TRUE(saved >= 0 && saved <= 1) << saved;
    }
  }
}

// The pass for two modes need not go through the nonzeros again, only through the pairs of rows.
TEST(FusedPasses, save_much_where_pairs_of_rows_have_many_nonzeros) {
  TensorShape shape{{2000, 2000, 2000}, 4000000, {}, 0};
  shape.distinct = {{0b011, 200000}, {0b101, 3900000}, {0b110, 3900000}};
  const auto long_fibers = fused_passes(shape, {true, {0, 1, 2}}, 16);
  EXPECT_GT(long_fibers.saved[1], 0.7);
  shape.distinct[0b011] = 3900000;
  const auto short_fibers = fused_passes(shape, {true, {0, 1, 2}}, 16);
  EXPECT_LT(short_fibers.saved[1], long_fibers.saved[1]);
}

// Sums that are kept for rows that are not complete save less, since they cross the memory.
TEST(FusedPasses, save_something_for_rows_of_several_processes) {
  TensorShape shape{{2000, 2000, 2000}, 4000000, {}, 0};
  shape.distinct = {{0b011, 200000}, {0b101, 3900000}, {0b110, 3900000}};
  const auto long_fibers = fused_passes(shape, {true, {0, 1, 2}}, 16);
  EXPECT_GT(long_fibers.saved_of_shared[1], 0.5);
  EXPECT_LT(long_fibers.saved_of_shared[1], long_fibers.saved[1]);
  EXPECT_EQ(long_fibers.saved_of_shared[2], 0) << "almost as many pairs as nonzeros";
}

// Loads of two parts of which each has `complete` of 1000 nonzeros in rows that are complete.
PartLoads loads_with(const std::vector<Index>& complete) {
  PartLoads loads;
  for (const Index of_mode : complete)
    loads.emplace_back(
        std::vector(2, PartLoad{.nonzeros = 1000, .touched = 100, .owned = 50, .complete = of_mode}));
  return loads;
}

TEST(PredictedTime, leaves_out_what_a_pass_for_two_modes_saves) {
  const MachineModel machine;
  const auto multiply = [&](const std::vector<Index>& complete, const FusedPasses& fused) {
    const auto loads = loads_with(complete);
    const double mode = predict_time(loads, 0, 4, machine).multiply;
    const auto all = predict_time(loads, 4, machine, fused);
    EXPECT_NEAR(predict_time(loads, 4, machine).multiply, double(complete.size()) * mode, 1e-12);
    EXPECT_EQ(all.update, predict_time(loads, 4, machine).update);
    EXPECT_EQ(all.communicate, predict_time(loads, 4, machine).communicate);
    return all.multiply / mode;
  };
  const FusedPasses three{{2, 0, 1}, {0, 0.5, 0.8}};
  EXPECT_NEAR(multiply({0, 0, 0}, three), 3, 1e-9) << "no row is complete";
  EXPECT_NEAR(multiply({0, 1000, 0}, three), 3, 1e-9) << "nothing follows on the last mode";
  EXPECT_NEAR(multiply({0, 0, 1000}, three), 2.5, 1e-9);
  EXPECT_NEAR(multiply({0, 0, 200}, three), 2.9, 1e-9);
  EXPECT_NEAR(multiply({1000, 0, 1000}, three), 2.2, 1e-9) << "a mode is in one pass only";
  const FusedPasses four{{0, 1, 2, 3}, {0, 0.5, 0.8, 0.6}};
  EXPECT_NEAR(multiply({1000, 1000, 1000, 1000}, four), 2.9, 1e-9) << "the first two and the last two";
  EXPECT_NEAR(multiply({1000, 1000, 0, 0}, four), 3.2, 1e-9);
}

TEST(PredictedTime, leaves_out_what_kept_sums_save) {
  const FusedPasses fused{{0, 1, 2}, {0, 0.8, 0}, {0, 0.5, 0}};
  auto loads = loads_with({400, 0, 0});
  const double mode = predict_time(loads, 0, 4, {}).multiply;
  EXPECT_NEAR(predict_time(loads, 4, {}, fused).multiply / mode, 3 - 0.4 * 0.8, 1e-9)
      << "in coarse grain, the next mode has nonzeros of its own";
  for (auto& of_mode : loads) of_mode.folds = true;
  EXPECT_NEAR(predict_time(loads, 4, {}, fused).multiply / mode, 3 - 0.4 * 0.8 - 0.6 * 0.5, 1e-9);
}

TEST(PredictedTime, grows_with_the_nodes_of_fibers_that_are_in_several_parts) {
  const auto multiply = [](std::vector<Index> nodes, double per_nonzero) {
    auto loads = loads_with({0, 0});
    loads[1].nodes = std::move(nodes);
    loads[1].nodes_per_nonzero = per_nonzero;
    return predict_time(loads, 1, 4, {}).multiply / predict_time(loads, 0, 4, {}).multiply;
  };
  EXPECT_EQ(multiply({}, 0), 1) << "not counted";
  EXPECT_NEAR(multiply({500, 500}, 0.5), 1, 1e-12) << "as many as without parts";
  EXPECT_NEAR(multiply({500, 800}, 0.5), 1.2, 1e-12) << "of the slowest part";
}

// In a grid that divides all modes, fibers are in two parts.
TEST(PredictedTime, prefers_to_keep_fibers_whole) {
  const auto x = test::tame_tensor({60, 50, 400}, 30000, 7);
  const Distributor distributor(Comm::self(), x, 4, 1);
  LoadPlanner planner(Comm::self(), x);
  const auto seconds = [&](std::vector<int> grid) {
    return predict_time(planner.loads(distributor.medium(GridShape(grid), {}, RowRule::greedy)), 0, 16, {})
        .multiply;
  };
  const double whole = seconds({4, 1, 1}), divided = seconds({1, 1, 4});
  planner.count_nodes({{0, 1, 2}, {1, 0, 2}, {2, 0, 1}});
  EXPECT_NEAR(seconds({4, 1, 1}), whole, 0.05 * whole);
  EXPECT_GT(seconds({1, 1, 4}), 1.1 * divided);
}

// Where one mode is divided, all its rows are complete, and no others that two parts touch.
TEST(PredictedTime, prefers_to_divide_the_mode_whose_pass_serves_the_next) {
  const auto x = test::tame_tensor({60, 50, 40}, 20000, 7);
  const Distributor distributor(Comm::self(), x, 2, 1);
  const LoadPlanner planner(Comm::self(), x);
  const auto seconds = [&](std::vector<int> grid, const std::vector<int>& mode_order) {
    const auto fused = fused_passes(whole_shape(x), {true, mode_order}, 16);
    const auto loads = planner.loads(distributor.medium(GridShape(grid), {}, RowRule::greedy));
    return predict_time(loads, 16, {}, fused).multiply / predict_time(loads, 16, {}).multiply;
  };
  EXPECT_LT(seconds({2, 1, 1}, {0, 1, 2}), 0.95);
  EXPECT_LT(seconds({1, 1, 2}, {2, 1, 0}), 0.95);
  // Its rows are on both parts: sums that are kept save less.
  EXPECT_LT(seconds({1, 1, 2}, {0, 1, 2}), 1);
  EXPECT_GT(seconds({1, 1, 2}, {0, 1, 2}), seconds({2, 1, 1}, {0, 1, 2}) + 0.02);
}

}  // namespace
}  // namespace polyad
