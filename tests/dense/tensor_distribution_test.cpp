#include "polyad/dense/tensor_distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/dense/dense_layout.hpp"
#include "polyad/dense/dense_tensor.hpp"
#include "polyad/dense/distribution_text.hpp"
#include "tests/support/random_distribution.hpp"

namespace polyad::dense {
namespace {

using test::distribution;

// The first three indices of a mode that is long enough.
std::vector<Index> begin_of_subrange(const ModeDistribution& mode, const GridShape& grid,
                                     const std::vector<int>& coords) {
  const auto range = range_of(mode, 1000, grid, grid.rank_at(coords));
  return {range[0], range[1], range[2]};
}

std::vector<Index> indices(const CyclicRange& range) {
  std::vector<Index> all;
  for (Index l = 0; l < range.count; ++l) all.push_back(range[l]);
  return all;
}

TEST(TensorDistribution, without_grid_modes_every_process_has_all_indices) {  // Figure 7
  const GridShape grid({2, 3});
  for (int p0 = 0; p0 < 2; ++p0)
    for (int p1 = 0; p1 < 3; ++p1)
      EXPECT_EQ(begin_of_subrange({{}}, grid, {p0, p1}), (std::vector<Index>{0, 1, 2}));
}

TEST(TensorDistribution, one_grid_mode_deals_indices_out_in_turn) {  // Figure 8
  const GridShape grid({2, 3});
  for (int p0 = 0; p0 < 2; ++p0)
    for (int p1 = 0; p1 < 3; ++p1) {
      EXPECT_EQ(begin_of_subrange({{0}}, grid, {p0, p1}), (std::vector<Index>{p0, p0 + 2, p0 + 4}));
      EXPECT_EQ(begin_of_subrange({{1}}, grid, {p0, p1}), (std::vector<Index>{p1, p1 + 3, p1 + 6}));
    }
}

TEST(TensorDistribution, two_grid_modes_count_the_processes_by_columns_or_by_rows) {  // Figure 9
  const GridShape grid({2, 3});
  const std::vector<std::vector<Index>> by_columns{{0, 2, 4}, {1, 3, 5}}, by_rows{{0, 1, 2}, {3, 4, 5}};
  for (int p0 = 0; p0 < 2; ++p0)
    for (int p1 = 0; p1 < 3; ++p1) {
      const Index c = by_columns[p0][p1], r = by_rows[p0][p1];
      EXPECT_EQ(begin_of_subrange({{0, 1}}, grid, {p0, p1}), (std::vector<Index>{c, c + 6, c + 12}));
      EXPECT_EQ(begin_of_subrange({{1, 0}}, grid, {p0, p1}), (std::vector<Index>{r, r + 6, r + 12}));
    }
}

TEST(TensorDistribution, three_grid_modes_in_the_order_1_0_2) {  // Figure 10
  const GridShape grid({4, 3, 2});
  Index expected = 0;
  for (int p2 = 0; p2 < 2; ++p2)
    for (int p0 = 0; p0 < 4; ++p0)
      for (int p1 = 0; p1 < 3; ++p1, ++expected)
        EXPECT_EQ(begin_of_subrange({{1, 0, 2}}, grid, {p0, p1, p2}),
                  (std::vector<Index>{expected, expected + 24, expected + 48}));
}

TEST(TensorDistribution, an_alignment_shifts_who_has_the_first_index) {  // Example 5
  const GridShape grid({2, 4, 3});
  const ModeDistribution mode{{0, 2}, 4};

  const auto range = range_of(mode, 20, grid, grid.rank_at(std::vector<int>{0, 3, 1}));

  EXPECT_EQ(indices(range), (std::vector<Index>{0, 6, 12, 18}));
}

TEST(TensorDistribution, a_matrix_of_6_by_9_on_a_grid_of_2_by_3) {  // Example 6, by the definition
  const auto layout = make_layout(GridShape({2, 3}), {6, 9}, distribution("A[M,N](<0>,<1>)"));
  for (int p0 = 0; p0 < 2; ++p0)
    for (int p1 = 0; p1 < 3; ++p1) {
      const auto share = share_of(layout, layout.grid.rank_at(std::vector<int>{p0, p1}));
      EXPECT_EQ(indices(share[0]), (std::vector<Index>{p0, p0 + 2, p0 + 4}));
      EXPECT_EQ(indices(share[1]), (std::vector<Index>{p1, p1 + 3, p1 + 6}));
    }
}

TEST(TensorDistribution, elementals_names_are_those_of_the_two_mode_grid) {  // section 3.7
  EXPECT_EQ(distribution("[MC,MR]"), distribution("(<0>,<1>)"));
  EXPECT_EQ(distribution("[VC,*]"), distribution("(<0,1>,<>)"));
  EXPECT_EQ(distribution("[*,VR]"), distribution("(<>,<1,0>)"));
  EXPECT_EQ(elemental_distribution("MD"), std::nullopt);
}

TEST(TensorDistribution, every_violation_has_its_sentence) {
  const GridShape grid({2, 3});
  const auto expect = [&](const std::string& text, const std::string& sentence) {
    EXPECT_EQ(invalidity(distribution(text), grid), sentence) << text;
    EXPECT_THROW(check_valid(distribution(text), grid), Error);
  };
  expect("(<0>,<2>)", "grid mode 2 does not exist: the grid 2x3 has modes 0 to 1");
  expect("(<0>,<0>)", "grid mode 0 distributes mode 0 and distributes mode 1");
  expect("(<1,1>)", "grid mode 1 distributes mode 0 twice");
  expect("(<0,1>+6)", "mode 0 has alignment 6, but 6 parts: expected 0 to 5");
  expect("(<>+1)", "mode 0 has alignment 1, but 1 part: expected 0 to 0");
  expect("(<0>) at 1=3", "grid mode 1 is fixed at 3, but has coordinates 0 to 2");
  expect("(<0>) at 0=1", "grid mode 0 distributes mode 0 and is fixed at 1");
  expect("(<0>) sum 0", "grid mode 0 distributes mode 0 and is summed over");
  EXPECT_EQ(invalidity(distribution("(<1>,<0>) "), grid), std::nullopt);
}

TEST(TensorDistribution, canonical_means_that_every_grid_mode_with_processes_is_used) {
  EXPECT_EQ(noncanonicity(distribution("(<0>,<>,<>)"), GridShape({2, 3})),  // more modes than the grid
            "grid mode 1 is not used: every element is on 3 processes");
  EXPECT_EQ(noncanonicity(distribution("(<0>,<>,<>)"), GridShape({2, 1})), std::nullopt);
  EXPECT_EQ(noncanonicity(distribution("(<0>,<1,2>)"), GridShape({2, 3, 2})), std::nullopt);
  EXPECT_EQ(noncanonicity(distribution("(<0,1,2>,<>)"), GridShape({2, 3, 2})), std::nullopt);
  EXPECT_EQ(noncanonicity(distribution("(<0>) at 1=0"), GridShape({2, 3})), std::nullopt);
  EXPECT_EQ(noncanonicity(distribution("(<0>) sum 1"), GridShape({2, 3})),
            "the values along grid mode 1 are still to be added up");
}

TEST(TensorDistribution, the_default_is_canonical_and_that_of_section_3_6) {
  EXPECT_EQ(to_string(canonical_distribution(3, 2)), "(<0>,<1>,<>)");
  EXPECT_EQ(to_string(canonical_distribution(2, 3)), "(<0>,<1,2>)");
  EXPECT_EQ(to_string(canonical_distribution(0, 2)), "()");
  for (int order = 1; order <= 5; ++order)
    for (const auto& dims : {std::vector<int>{4}, {2, 3}, {2, 1, 3}, {2, 2, 2, 2}})
      EXPECT_EQ(noncanonicity(canonical_distribution(order, int(dims.size())), GridShape(dims)),
                std::nullopt);
}

TEST(TensorDistribution, text_comes_back_as_it_was) {
  for (const std::string text :
       {"A[a,c,i,k](<0>,<1>,<2>,<3>)", "B[b](<0,2>+4)", "S[]()", "T[a,c'](<1>,<>) at 0=1,2=0",
        "T[x,y](<>,<>) sum 1,3", "[a12,b](<0>,<1,2>+1) at 3=1 sum 4"})
    EXPECT_EQ(to_string(parse_distribution(text)), text);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto random = test::random_distribution(GridShape({2, 3, 2, 2}), int(seed % 5), seed);
    EXPECT_EQ(distribution(to_string(random)), random);
  }
}

TEST(TensorDistribution, other_ways_to_write_it_are_understood) {
  EXPECT_EQ(distribution("[(0,1);();(2)]"), distribution("(<0,1>,<>,<2>)"));  // ROTE
  EXPECT_EQ(parse_distribution(" A [ a b ] ( <0> , <1 , 2> + 1 ) "),
            parse_distribution("A[a,b](<0>,<1,2>+1)"));
  EXPECT_EQ(parse_distribution("A[ab](<0>,<1>)").indices, (std::vector<std::string>{"a", "b"}));
}

TEST(TensorDistribution, text_that_is_none_gets_a_sentence) {
  const auto expect = [](const std::string& text, const std::string& sentence) {
    try {
      parse_distribution(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_option);
      EXPECT_EQ(error.what(), sentence);
    }
  };
  expect("A[a](<0)", "distribution 'A[a](<0)': expected '>' before ')'");
  expect("A[a](<x>)", "distribution 'A[a](<x>)': expected a number before 'x>)'");
  expect("A[a,b](<0>)", "distribution 'A[a,b](<0>)': 2 indices, but 1 modes");
  expect("A[a](<0>)x", "distribution 'A[a](<0>)x': expected nothing more before 'x'");
  expect("[(0)", "distribution '[(0)': expected ']' at the end");
  expect("A[a,](<0>)", "indices 'a,': expected an index after the comma");
  expect("A[1](<0>)", "indices '1': expected letters, as in abc or a,b,c");
}

TEST(CyclicRange, intersections_are_those_of_sets) {
  for (Index extent : {1, 7, 40})
    for (Index a = 1; a <= 6; ++a)
      for (Index b = 1; b <= 6; ++b)
        for (Index ra = 0; ra < a; ++ra)
          for (Index rb = 0; rb < b; ++rb) {
            const auto x = cyclic_range(extent, ra, a), y = cyclic_range(extent, rb, b);
            std::vector<Index> expected;
            for (Index j = 0; j < extent; ++j)
              if (j % a == ra && j % b == rb) expected.push_back(j);
            EXPECT_EQ(indices(intersection(x, y)), expected);
          }
}

// Property of every distribution: each element lies on as many processes as its unused grid modes have.
TEST(DenseLayout, every_element_lies_on_exactly_the_processes_that_the_distribution_says) {
  for (const auto& dims : {std::vector<int>{1}, {4}, {2, 3}, {3, 1, 2}, {2, 2, 3}, {2, 3, 1, 2}})
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const GridShape grid(dims);
      const int order = int(seed % 4);
      const auto layout =
          make_layout(grid, test::random_extents(order, seed), test::random_distribution(grid, order, seed));
      Index copies = grid.size();
      for (const int h : used_grid_modes(layout.distribution)) copies /= grid.dim(h);
      for (const auto& plane : layout.distribution.held_on) copies /= grid.dim(plane.grid_mode);
      std::multiset<std::vector<Index>> held;
      Index largest = 0;
      for (int rank = 0; rank < grid.size(); ++rank) {
        largest = std::max(largest, local_size(layout, rank));
        if (!holds_anything(layout, rank)) continue;
        for_each_element(share_of(layout, rank), [&](std::span<const Index> index, Index) {
          held.insert({index.begin(), index.end()});
        });
      }
      EXPECT_EQ(largest, largest_local_size(layout));
      EXPECT_EQ(Index(held.size()), copies * num_elements(layout.extents));
      for (const auto& index : held) EXPECT_EQ(Index(held.count(index)), copies);
    }
}

TEST(DenseTensor, orders_from_0_to_12_in_both_precisions) {
  const ProcessGrid grid(Comm::world(), GridShape({1, 1}));
  for (int order = 0; order <= max_dense_order; ++order) {
    DenseTensor<float> x(grid, std::vector<Index>(std::size_t(order), 2), canonical_distribution(order, 2));
    fill(x, [](std::span<const Index> index) {
      Index bits = 0;
      for (std::size_t m = 0; m < index.size(); ++m) bits += index[m] << m;
      return bits;
    });
    ASSERT_EQ(x.local().size(), std::size_t(1) << order);
    for (std::size_t i = 0; i < x.local().size(); ++i) EXPECT_EQ(x.local()[i], float(i));
  }
  EXPECT_THROW(DenseTensor<double>(grid, std::vector<Index>(13, 1), canonical_distribution(13, 2)), Error);
  EXPECT_THROW(DenseTensor<double>(grid, {2, 2}, canonical_distribution(3, 2)), Error);
}

}  // namespace
}  // namespace polyad::dense
