// Redistributions as values: no process is started.
#include "polyad/dense/redistribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/dense/distribution_text.hpp"
#include "tests/support/random_distribution.hpp"

namespace polyad::dense {
namespace {

using test::distribution;

RedistributionPlan plan(const std::vector<int>& grid, const std::vector<Index>& extents,
                        const std::string& from, const std::string& to) {
  return plan_redistribution(GridShape(grid), extents, distribution(from), distribution(to));
}

// What the plan does, in short: "allgather 1; all-to-all 0,2".
std::string moves(const RedistributionPlan& plan) {
  std::string text;
  for (const auto& step : plan.steps) {
    text += (text.empty() ? "" : "; ") + std::string(to_string(step.move));
    for (const int h : step.grid_modes) text += " " + std::to_string(h);
  }
  return text;
}

TEST(Redistribution, elementals_are_one_collective_each) {  // the table of section 4.5
  const auto expect = [](const std::string& from, const std::string& to, const std::string& there,
                         const std::string& back) {
    EXPECT_EQ(moves(plan({2, 3}, {60, 60}, from, to)), there) << from << " -> " << to;
    EXPECT_EQ(moves(plan({2, 3}, {60, 60}, to, from)), back) << to << " -> " << from;
  };
  // The reduce-scatters of the table are filters where there is nothing to add up.
  expect("[MC,MR]", "[MC,*]", "allgather 1", "local filter 1");
  expect("[MR,MC]", "[MR,*]", "allgather 0", "local filter 0");
  expect("[MC,MR]", "[*,MR]", "allgather 0", "local filter 0");
  expect("[VC,*]", "[MC,*]", "allgather 1", "local filter 1");
  expect("[VR,*]", "[MR,*]", "allgather 0", "local filter 0");
  expect("[VC,*]", "[MC,MR]", "all-to-all 1", "all-to-all 1");
  expect("[VR,*]", "[MR,MC]", "all-to-all 0", "all-to-all 0");
  expect("[VC,*]", "[VR,*]", "permutation 0 1", "permutation 0 1");
  expect("[MC,*]", "[*,*]", "allgather 0", "local filter 0");
  expect("[*,MR]", "[*,*]", "allgather 1", "local filter 1");
  expect("[MC,*]", "[*,MC]", "all-to-all 0", "all-to-all 0");
}

void expect_moves(const std::string& from, const std::string& to, const std::string& text) {
  EXPECT_EQ(moves(plan({2, 3}, {60, 60}, from, to)), text) << from << " -> " << to;
}

TEST(Redistribution, sums_are_reduce_scatters) {  // the other direction of the table
  expect_moves("(<0>,<>) sum 1", "(<0>,<1>)", "reduce-scatter 1");
  expect_moves("(<>,<1>) sum 0", "(<0>,<1>)", "reduce-scatter 0");
  expect_moves("(<0>,<>) sum 1", "(<0,1>,<>)", "reduce-scatter 1");
  expect_moves("(<>,<>) sum 0", "(<0>,<>)", "reduce-scatter 0");
  expect_moves("(<>,<>) sum 0,1", "(<1>,<0>)", "reduce-scatter 0 1");
  expect_moves("(<0>,<>) sum 1", "(<0>,<>)", "allreduce 1");
  expect_moves("(<1>,<>) sum 0", "(<0>,<1>)", "all-to-all 1; reduce-scatter 0");
  EXPECT_EQ(moves(plan({2, 3}, {}, "() sum 0,1", "()")), "allreduce 0 1");
}

TEST(Redistribution, hyperplanes_are_scattered_from_and_gathered_to) {
  expect_moves("(<0>,<>) at 1=2", "(<0>,<1>)", "scatter 1");
  expect_moves("(<0>,<1>)", "(<0>,<>) at 1=2", "gather 1");
  expect_moves("(<0,1>,<>)", "(<>,<>) at 0=1,1=0", "gather 0 1");
  expect_moves("(<0>,<>)", "(<0>,<>) at 1=2", "local filter 1");
  EXPECT_EQ(moves(plan({2, 3}, {}, "() at 0=1", "()")), "broadcast 0");
}

TEST(Redistribution, of_appendix_c_is_what_it_should_have_been) {
  const std::vector<Index> extents{40, 40, 40, 40};
  // An exchange of two grid modes: a permutation where they are equally long, else one all-to-all.
  EXPECT_EQ(moves(plan({2, 2, 3, 3}, extents, "(<0>,<1>,<2>,<3>)", "(<0>,<1>,<3>,<2>)")), "permutation 2 3");
  EXPECT_EQ(moves(plan({2, 2, 3, 2}, extents, "(<0>,<1>,<2>,<3>)", "(<0>,<1>,<3>,<2>)")), "all-to-all 2 3");
  // A of stationary C: 3 moves from k to i, then 1 and 2 are gathered.
  const auto prep = plan({2, 2, 2, 3}, extents, "(<0>,<1>,<2>,<3>)", "(<0>,<>,<3>,<>)");
  EXPECT_EQ(moves(prep), "all-to-all 2 3; allgather 1 2");
}

TEST(Redistribution, alignments_shift_by_permutations_and_fall_with_allgathers) {
  EXPECT_EQ(moves(plan({2, 3}, {60}, "(<0,1>+1)", "(<0,1>)")), "permutation 0 1");
  EXPECT_EQ(moves(plan({2, 3}, {60}, "(<0,1>+2)", "(<0,1>)")), "permutation 1");
  EXPECT_EQ(moves(plan({2, 3}, {60}, "(<0,1>+3)", "(<0>+1)")), "allgather 1");
  EXPECT_EQ(moves(plan({2, 3}, {60}, "(<0>+1)", "(<0,1>+3)")), "local filter 1");
}

TEST(Redistribution, grid_modes_of_one_process_mean_nothing) {
  EXPECT_EQ(moves(plan({2, 1, 1}, {60, 60}, "(<0,1>,<2>)", "(<2,0>,<>)")), "");
  EXPECT_EQ(moves(plan({2, 1}, {60, 60}, "(<1>,<0>)", "(<>,<>)")), "allgather 0");
}

TEST(Redistribution, a_plan_is_printed_with_its_words) {
  EXPECT_EQ(describe(plan({2, 3}, {60, 60}, "(<0>,<1>)", "(<>,<1>)")),
            "allgather over <0>: (<0>,<1>) -> (<>,<1>), 600 words\n");
  EXPECT_EQ(describe(plan({2, 3}, {60, 60}, "(<0>,<>)", "(<0>,<1>)")),
            "local filter: (<0>,<>) -> (<0>,<1>)\n");
}

TEST(Redistribution, costs_are_those_of_figure_6) {
  const GridShape grid({4, 2});
  const auto cost = [&](Move move, const std::string& from, const std::string& to) {
    return cost_of(RedistributionStep{move, {0}, distribution(from), distribution(to)}, grid, {64});
  };
  EXPECT_EQ(cost(Move::allgather, "(<0>)", "(<>)").words, 48);  // of the gathered length
  EXPECT_EQ(cost(Move::allgather, "(<0>)", "(<>)").messages, 2);
  EXPECT_EQ(cost(Move::reduce_scatter, "(<>) sum 0", "(<0>)").words, 48);  // of the unreduced one
  EXPECT_EQ(cost(Move::reduce_scatter, "(<>) sum 0", "(<0>)").additions, 48);
  EXPECT_EQ(cost(Move::all_reduce, "(<>) sum 0", "(<>)").words, 96);
  EXPECT_EQ(cost(Move::broadcast, "(<>) at 0=0", "(<>)").words, 64);
  EXPECT_EQ(cost(Move::permutation, "(<0>+1)", "(<0>)").words, 16);
}

TEST(Redistribution, what_is_invalid_is_refused) {
  EXPECT_THROW(plan({2, 3}, {60}, "(<0,0>)", "(<>)"), Error);
  EXPECT_THROW(plan({2, 3}, {60}, "(<0>)", "(<2>)"), Error);
  EXPECT_THROW(plan({2, 3}, {60}, "(<0>,<1>)", "(<>,<>)"), Error);
  EXPECT_THROW(plan({2, 3}, {60}, "(<0>)", "(<0>) sum 1"), Error);
}

// Whether the processes along the step's grid modes can make it among themselves, by the definition: what a
// process gets lies on some process of its plane.
void expect_closed(const RedistributionStep& step, const GridShape& grid, const std::vector<Index>& extents) {
  const DenseLayout from{grid, extents, step.from}, to{grid, extents, step.to};
  for (int rank = 0; rank < grid.size(); ++rank) {
    if (!holds_anything(to, rank)) continue;
    int processes = 1;
    for (const int h : step.grid_modes) processes *= grid.dim(h);
    Index found = 0;
    const auto gets = share_of(to, rank);
    for (int q = 0; q < processes; ++q) {
      const int other = grid.rank_in_plane(step.grid_modes, rank, q);
      const bool alone = step.move == Move::filter && other != rank;
      if (alone || !holds_anything(from, other)) continue;
      Index common = 1;
      const auto has = share_of(from, other);
      for (std::size_t m = 0; m < gets.size(); ++m) common *= intersection(gets[m], has[m]).count;
      found += common;
    }
    const Index copies = step.move == Move::reduce_scatter || step.move == Move::all_reduce ? processes : 1;
    EXPECT_EQ(found, copies * local_size(to, rank))
        << to_string(step.move) << " " << to_string(step.from) << " -> " << to_string(step.to);
  }
}

TEST(Redistribution, steps_of_sampled_pairs_are_closed_and_follow_each_other) {
  const std::vector<std::vector<int>> grids{{6}, {2, 3}, {3, 2, 2}, {2, 1, 2, 3}, {2, 2, 2, 2}};
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const GridShape grid(grids[seed % grids.size()]);
    const int order = 1 + int(seed / 5 % 4);
    const auto extents = test::random_extents(order, seed, 40);
    const auto from = test::random_distribution(grid, order, 2 * seed);
    const auto to = test::random_distribution(grid, order, 2 * seed + 1);

    const auto found = plan_redistribution(grid, extents, from, to);

    auto state = without_trivial_modes(from, grid);
    std::ranges::sort(state.held_on);
    for (const auto& step : found.steps) {
      EXPECT_EQ(step.from, state);
      EXPECT_EQ(invalidity(step.to, grid), std::nullopt);
      expect_closed(step, grid, extents);
      state = step.to;
    }
    auto target = without_trivial_modes(to, grid);
    std::ranges::sort(target.held_on);
    EXPECT_EQ(state, target);
    EXPECT_LE(found.steps.size(), 5u) << describe(found);
  }
}

TEST(Redistribution, large_grids_are_planned_on_one_process) {
  const auto found = plan({8, 4, 8, 4}, {500, 600, 700, 800}, "(<0>,<1>,<2>,<3>)", "(<3>,<2>,<>,<0,1>)");
  EXPECT_FALSE(found.steps.empty());
  Index total = 0;
  for (int rank = 0; rank < found.grid.size(); ++rank) total += planned_words(found, rank);
  EXPECT_GT(total, 0);
  const std::vector<Index> twelve(12, 3);
  EXPECT_EQ(moves(plan_redistribution(GridShape({2, 2, 2}), twelve, canonical_distribution(12, 3),
                                      canonical_distribution(12, 3))),
            "");
}

}  // namespace
}  // namespace polyad::dense
