#include "polyad/distributed/cp/grid_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/factor_problem.hpp"

namespace polyad {
namespace {

using Dims = std::vector<int>;

// An example worked out by hand for 16 processes.
const std::vector<Index> rows_of_the_check{4800000, 1800000, 1800000};

TEST(SplattGrid, gives_primes_to_the_mode_furthest_above_the_target) {
  EXPECT_EQ(splatt_grid(rows_of_the_check, 16).dims(), (Dims{4, 2, 2}));
  EXPECT_EQ(splatt_grid(std::vector<Index>{100, 100}, 1).dims(), (Dims{1, 1}));
  EXPECT_EQ(splatt_grid(std::vector<Index>{10, 1000, 10}, 7).dims(), (Dims{1, 7, 1}));
}

TEST(CandidateGrids, give_the_smallest_primes_in_every_way) {
  std::set<Dims> dims;
  for (const auto& grid : candidate_grids(rows_of_the_check, 16)) dims.insert(grid.dims());

  // 4x1x1 is settled; two twos are free.
  EXPECT_EQ(dims, (std::set<Dims>{{16, 1, 1}, {8, 2, 1}, {8, 1, 2}, {4, 4, 1}, {4, 2, 2}, {4, 1, 4}}));
}

TEST(CandidateGrids, are_all_grids_when_there_are_few_primes) {
  for (const int parts : {1, 2, 6, 7, 15})
    EXPECT_EQ(candidate_grids(rows_of_the_check, parts), all_grids(3, parts)) << parts;
}

TEST(CandidateGrids, are_distinct_and_have_as_many_cells_as_there_are_parts) {
  for (int order = 2; order <= 6; ++order)
    for (const int parts : {1, 5, 12, 36, 64, 512})
      for (const int primes : {1, 2, 3}) {
        const std::vector<Index> rows(std::size_t(order), 1000);
        std::set<Dims> dims;
        const auto grids = candidate_grids(rows, parts, primes);
        for (const auto& grid : grids) {
          EXPECT_EQ(grid.size(), parts);
          dims.insert(grid.dims());
        }
        EXPECT_EQ(dims.size(), grids.size());
      }
}

TEST(NumberWithSmallFactors, is_the_largest_below_one_with_a_large_factor) {
  const auto is_small = [](int n) {
    for (const int prime : {2, 3, 5, 7})
      while (n % prime == 0) n /= prime;
    return n == 1;
  };
  for (int n = 1; n < 600; ++n) {
    int expected = n;
    while (!is_small(expected)) --expected;
    EXPECT_EQ(number_with_small_factors(n).value_or(n), expected) << n;
    EXPECT_EQ(number_with_small_factors(n).has_value(), expected != n) << n;
  }
  EXPECT_EQ(number_with_small_factors(509), 504);
}

TEST(NeighbouringGrids, move_one_prime_factor) {
  for (const int parts : {1, 2, 12, 30, 64, 97}) {
    const auto all = all_grids(3, parts);
    for (const auto& grid : all) {
      std::vector<GridShape> expected;
      for (const auto& other : all) {
        int up = 1, down = 1, changed = 0;
        for (int m = 0; m < 3; ++m) {
          if (other.dim(m) == grid.dim(m)) continue;
          ++changed;
          if (other.dim(m) % grid.dim(m) == 0) up *= other.dim(m) / grid.dim(m);
          if (grid.dim(m) % other.dim(m) == 0) down *= grid.dim(m) / other.dim(m);
        }
        const bool is_prime = up > 1 && [&] {
          for (int d = 2; d < up; ++d)
            if (up % d == 0) return false;
          return true;
        }();
        if (changed == 2 && up == down && is_prime) expected.push_back(other);
      }
      const auto found = neighbouring_grids(grid);
      EXPECT_EQ(found.size(), expected.size());
      for (const auto& one : expected) EXPECT_EQ(std::ranges::count(found, one), 1) << to_string(one);
    }
  }
}

TEST(PredictedGrid, has_the_most_even_layers_of_the_candidates) {
  const auto x = test::tame_tensor({60, 40, 30}, 3000, 1, true);
  std::vector<SliceProfile> profiles;
  for (int m = 0; m < 3; ++m) profiles.emplace_back(Comm::self(), x, m);
  const std::vector<Index> rows{profiles[0].num_rows(), profiles[1].num_rows(), profiles[2].num_rows()};

  const double least = layer_imbalance(profiles, predicted_grid(profiles, 16));

  for (const auto& grid : candidate_grids(rows, 16)) EXPECT_LE(least, layer_imbalance(profiles, grid));
}

// A mode that is not divided scores 0: four layers of slices with 1, 1, 1 and 5 nonzeros score 0.8.
TEST(LayerImbalance, is_the_mean_over_the_modes) {
  SparseTensor<double> x({4, 8});
  for (Index z = 0; z < 8; ++z) x.append(std::vector<Index>{std::min<Index>(z, 3), z}, 1.0);
  std::vector<SliceProfile> profiles;
  for (int m = 0; m < 2; ++m) profiles.emplace_back(Comm::self(), x, m);

  EXPECT_DOUBLE_EQ(layer_imbalance(profiles, GridShape({4, 1})), 0.4);
  EXPECT_DOUBLE_EQ(layer_imbalance(profiles, GridShape({1, 4})), 0);
}

}  // namespace
}  // namespace polyad
