#include "polyad/distributed/cp/layers.hpp"

#include <gtest/gtest.h>

#include "tests/support/factor_problem.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

using Cuts = std::vector<Index>;
using Kind = LayerPolicy::Kind;

// A matrix whose i-th row has counts[i] nonzeros; every other row is empty.
SparseTensor<double> with_rows(const std::vector<Index>& counts) {
  SparseTensor<double> x({2 * std::ssize(counts), 1000});
  for (Index i = 0; i < std::ssize(counts); ++i)
    for (Index k = 0; k < counts[i]; ++k) x.append(std::vector<Index>{2 * i, k}, 1.0);
  return x;
}

Cuts cut(const std::vector<Index>& counts, int layers, const LayerPolicy& policy) {
  const Comm comm = Comm::world();
  const auto share = test::share_of(with_rows(counts), comm);
  const auto result = cut_into_layers(SliceProfile(comm, share, 0), layers, policy);
  for (int l = 0; l < layers; ++l) EXPECT_EQ(result.layer[l], l);
  return result.begin;
}

LayerCuts interleave(const std::vector<Index>& counts, int layers, int pieces) {
  const Comm comm = Comm::world();
  return cut_into_layers(SliceProfile(comm, test::share_of(with_rows(counts), comm), 0), layers,
                         {Kind::interleaved, pieces});
}

// Of each layer.
std::vector<Index> rows_of(const LayerCuts& cuts, int layers) {
  std::vector<Index> rows(static_cast<std::size_t>(layers), 0);
  for (std::size_t i = 0; i < cuts.layer.size(); ++i)
    rows[cuts.layer[i]] += cuts.begin[i + 1] - cuts.begin[i];
  return rows;
}
std::vector<Index> nonzeros_of(const LayerCuts& cuts, const std::vector<Index>& counts, int layers) {
  std::vector<Index> nonzeros(static_cast<std::size_t>(layers), 0);
  for (std::size_t i = 0; i < cuts.layer.size(); ++i)
    for (Index row = cuts.begin[i]; row < cuts.begin[i + 1]; ++row) nonzeros[cuts.layer[i]] += counts[row];
  return nonzeros;
}

std::vector<Index> random_counts(int seed) {
  const Random random(std::uint64_t(seed), 2);
  std::vector<Index> counts;
  for (Index i = 0; i < 1 + Index(random.below(40, 1000)); ++i)
    counts.push_back(1 + Index(std::exp(5 * random.uniform(std::uint64_t(i)))));
  return counts;
}

TEST(Layers, by_hand) {
  const std::vector<Index> counts{8, 1, 1, 1, 1, 1, 1, 2};  // 16 nonzeros in 8 rows
  EXPECT_EQ(cut(counts, 2, {Kind::set}), (Cuts{0, 4, 8}));
  EXPECT_EQ(cut(counts, 2, {Kind::nnz}), (Cuts{0, 1, 8}));
  // `set` gives 11 and 5 nonzeros. The first is 3 above the mean, and has 11/4 a row: 12/11 of a row, so one.
  EXPECT_EQ(cut(counts, 2, {Kind::ordered, 1}), (Cuts{0, 3, 8}));
  EXPECT_EQ(cut(counts, 2, {Kind::ordered, 2}), (Cuts{0, 4, 8}));
  // Half of the difference is 3; a row has 2 in the mean: one row.
  EXPECT_EQ(cut(counts, 2, {Kind::max_min}), (Cuts{0, 3, 8}));
}

// The i-th fullest layer with the i-th emptiest, in four layers of 12, 3, 4 and 6 nonzeros.
// With 4 for each row: 12, 5, 5, 5, 5, 5, 5, 6; half of 48 is nearer to the end of the third. With 1: 9, 2,
// 2, ...; half of 24 is in the middle of the third, and goes to its begin.
TEST(Layers, weighted_by_hand) {
  const std::vector<Index> counts{8, 1, 1, 1, 1, 1, 1, 2};
  EXPECT_EQ(cut(counts, 2, {Kind::weighted, 4}), (Cuts{0, 3, 8}));
  EXPECT_EQ(cut(counts, 2, {Kind::weighted, 1}), (Cuts{0, 2, 8}));
  EXPECT_EQ(cut(counts, 2, {Kind::weighted, 1000}), cut(counts, 2, {Kind::set}));
}

// Layers with a weight per row are layers of equal nonzeros of a matrix whose rows have that many more.
TEST(Layers, weighted_are_those_of_a_heavier_matrix) {
  for (int seed = 0; seed < 20; ++seed) {
    const Random random(std::uint64_t(seed), 3);
    std::vector<Index> counts;
    for (Index i = 0; i < 1 + Index(random.below(60, 0)); ++i)
      counts.push_back(1 + Index(std::exp(5 * random.uniform(std::uint64_t(i) + 1))));
    for (const int weight : {1, 4, 50}) {
      auto heavier = counts;
      for (auto& count : heavier) count += weight;
      for (const int layers : {1, 2, 7, 16})
        EXPECT_EQ(cut(counts, layers, {Kind::weighted, weight}), cut(heavier, layers, {Kind::nnz})) << seed;
    }
  }
}

TEST(Layers, of_max_min_pair_the_fullest_with_the_emptiest) {
  const std::vector<Index> counts{4, 4, 4, 1, 1, 1, 2, 1, 1, 2, 2, 2};
  // Sizes are 3 each; 12 and 3 differ by 9, a row has 25 / 12 in the mean: two rows; 6 and 4 by 2: none.
  EXPECT_EQ(cut(counts, 4, {Kind::max_min}), (Cuts{0, 1, 6, 9, 12}));
}

TEST(Layers, hold_a_row_each_where_there_are_enough) {
  const Comm comm = Comm::world();
  for (const auto& policy : all_policies())
    for (int seed = 0; seed < 30; ++seed) {
      const auto counts = random_counts(seed);
      const auto rows = std::ssize(counts);
      const SliceProfile profile(comm, test::share_of(with_rows(counts), comm), 0);
      for (const int layers : {1, 2, 3, 7, 16, 50}) {
        const auto cuts = cut_into_layers(profile, layers, policy);

        ASSERT_EQ(cuts.begin.size(), cuts.layer.size() + 1);
        EXPECT_EQ(cuts.begin.front(), 0);
        EXPECT_EQ(cuts.begin.back(), rows);
        EXPECT_TRUE(std::ranges::is_sorted(cuts.begin));
        for (const Index of_layer : rows_of(cuts, layers))
          EXPECT_GE(of_layer, rows >= layers ? 1 : 0) << to_string(policy);
      }
    }
}

// Pieces of 2 nonzeros: 2, 2 | 2, 2 | 1 1, 1 1 | 1 1, 1 1. Two rows with two nonzeros and four with one for
// each.
TEST(Layers, interleaved_by_hand) {
  const std::vector<Index> counts{2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(interleave(counts, 2, 4), (LayerCuts{{0, 1, 2, 3, 4, 6, 8, 10, 12}, {0, 1, 0, 1, 0, 1, 0, 1}}));
  EXPECT_EQ(interleave(counts, 2, 1), (LayerCuts{{0, 4, 12}, {0, 1}}));
}

// A few rows have half of the nonzeros: contiguous layers of equal nonzeros have few rows, or all others.
TEST(Layers, interleaved_are_even_in_rows_and_nonzeros) {
  for (const int layers : {2, 4, 7, 16}) {
    std::vector<Index> counts(400, 10);
    counts.insert(counts.end(), 4000, 1);
    const auto cuts = interleave(counts, layers, 4);
    const auto rows = rows_of(cuts, layers), nonzeros = nonzeros_of(cuts, counts, layers);
    EXPECT_LT(double(std::ranges::max(rows)), 1.05 * 4400 / layers);
    EXPECT_LT(double(std::ranges::max(nonzeros)), 1.05 * 8000 / layers);
    EXPECT_GT(cut(counts, layers, {Kind::nnz})[layers] - cut(counts, layers, {Kind::nnz})[layers - 1],
              1.4 * 4400 / layers);
  }
}

// A row that is heavier than a layer should be has one nearly for itself.
TEST(Layers, interleaved_leave_a_layer_to_a_heavy_row) {
  std::vector<Index> counts(300, 2);
  counts[150] = 300;
  for (const int layers : {2, 3, 4}) {
    const auto nonzeros = nonzeros_of(interleave(counts, layers, 4), counts, layers);
    EXPECT_LT(std::ranges::max(nonzeros), std::max<Index>(300, 898 / layers) + 40) << layers;
  }
}

TEST(Layers, of_equal_nonzeros_are_as_equal_as_rows_allow) {
  const auto cuts = cut(std::vector<Index>(100, 3), 7, {Kind::nnz});
  for (int l = 0; l < 7; ++l) EXPECT_NEAR(double(cuts[l + 1] - cuts[l]), 100.0 / 7, 1);
}

TEST(SliceProfile, answers_alike_however_the_tensor_is_shared) {
  const Comm comm = Comm::world();
  for (int seed = 1; seed <= 10; ++seed) {
    const auto whole = test::tame_tensor({300, 1, 40}, 20 * seed, std::uint64_t(seed), true);
    for (int m = 0; m < 3; ++m) {
      const SliceProfile one(Comm::self(), whole, m), many(comm, test::share_of(whole, comm), m);
      ASSERT_EQ(one.num_rows(), many.num_rows());
      ASSERT_EQ(one.num_nonzeros(), many.num_nonzeros());
      Cuts rows, counts;
      for (Index row = 0; row <= one.num_rows(); ++row) rows.push_back(row);
      for (Index count = 0; count <= one.num_nonzeros(); ++count) counts.push_back(count);
      EXPECT_EQ(one.nonzeros_before(rows), many.nonzeros_before(rows));
      EXPECT_EQ(one.rows_at(counts), many.rows_at(counts));
      EXPECT_EQ(one.slices_of(rows), many.slices_of(rows));
    }
  }
}

TEST(SliceProfile, of_an_empty_tensor_has_no_rows) {
  const Comm comm = Comm::world();
  const SliceProfile profile(comm, SparseTensor<double>({5, 5}), 0);

  EXPECT_EQ(profile.num_rows(), 0);
  for (const auto& policy : all_policies())
    EXPECT_EQ(cut_into_layers(profile, 3, policy), (LayerCuts{{0, 0, 0, 0}, {0, 1, 2}}));
}

}  // namespace
}  // namespace polyad
