#include "polyad/hypergraph/models.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "polyad/base/error.hpp"
#include "polyad/hypergraph/metrics.hpp"
#include "polyad/hypergraph/tilings.hpp"
#include "tests/support/random_hypergraph.hpp"
#include "tests/support/random_tensor.hpp"

namespace polyad::hypergraph {
namespace {

using Pins = std::vector<std::vector<LocalIndex>>;

Pins pins_of(const Hypergraph& h) {
  Pins pins;
  for (Index net = 0; net < h.num_nets(); ++net) pins.emplace_back(h.pins(net).begin(), h.pins(net).end());
  return pins;
}

// Figure 1 of Kaya and Ucar 2015: (1,2,3), (2,3,1), (3,1,2).
SparseTensor<double> figure_1() {
  SparseTensor<double> x({3, 3, 3});
  x.append(std::array<Index, 3>{0, 1, 2}, 1);
  x.append(std::array<Index, 3>{1, 2, 0}, 1);
  x.append(std::array<Index, 3>{2, 0, 1}, 1);
  return x;
}

TEST(FineModel, of_figure_1) {
  const auto model = fine_model(figure_1());
  // Nets a1 a2 a3, b1 b2 b3, c1 c2 c3.
  EXPECT_EQ(pins_of(model.h), (Pins{{0}, {1}, {2}, {2}, {0}, {1}, {1}, {2}, {0}}));
  const auto full = with_row_vertices(model);
  EXPECT_EQ(full.num_vertices(), 12);
  EXPECT_EQ(full.num_constraints(), 4);
  EXPECT_EQ(pins_of(full), (Pins{{0, 3}, {1, 4}, {2, 5}, {2, 6}, {0, 7}, {1, 8}, {1, 9}, {2, 10}, {0, 11}}));
  for (Index v = 0; v < 12; ++v)
    for (int c = 0; c < 4; ++c) EXPECT_EQ(full.vertex_weight(v, c), c == v / 3);
}

// a3 has to go to b1 and c2, which reside in other parts: that adds two.
TEST(CoarseModel, of_figure_1) {
  const auto model = coarse_model(figure_1(), SliceWeights::per_mode);
  EXPECT_EQ(pins_of(model.h), (Pins{{0, 4, 8},
                                    {1, 5, 6},
                                    {2, 3, 7},
                                    {2, 3, 7},
                                    {0, 4, 8},
                                    {1, 5, 6},
                                    {1, 5, 6},
                                    {2, 3, 7},
                                    {0, 4, 8}}));
  EXPECT_EQ(model.h.num_constraints(), 3);
  std::vector<int> parts{0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(measure_partition(model.h, parts, 3).connectivity, 0);
  parts[2] = 1;
  EXPECT_EQ(measure_partition(model.h, parts, 3).connectivity, 3);  // its own net, b1's and c2's
  parts[3] = 2;
  EXPECT_EQ(measure_partition(model.h, parts, 3).connectivity, 6);
  EXPECT_EQ(coarse_model(figure_1(), SliceWeights::together).h.num_constraints(), 1);
}

TEST(FineModel, has_a_vertex_per_cell_and_a_net_per_slice) {
  for (const auto& shape : test::odd_shapes())
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const auto x = test::random_tensor(shape, 60, seed);
      const auto model = fine_model(x);
      std::set<std::vector<Index>> cells;
      Index num_slices = 0;
      for (int m = 0; m < x.order(); ++m)
        num_slices += Index(std::set<Index>(x.indices(m).begin(), x.indices(m).end()).size());
      std::map<LocalIndex, std::vector<Index>> cell_of;
      for (Index z = 0; z < x.num_nonzeros(); ++z) {
        std::vector<Index> cell;
        for (int m = 0; m < x.order(); ++m) cell.push_back(x.indices(m)[z]);
        EXPECT_EQ(cell_of.emplace(model.vertex_of[z], cell).first->second, cell);
        cells.insert(cell);
      }
      EXPECT_EQ(model.h.num_vertices(), Index(cells.size()));
      EXPECT_EQ(model.h.num_nets(), num_slices);
      EXPECT_EQ(model.h.num_pins(), Index(cells.size()) * x.order());
      for (Index v = 0; v < model.h.num_vertices(); ++v) {
        ASSERT_EQ(std::ssize(model.h.nets(v)), x.order());
        Index first = 0;
        for (int m = 0; m < x.order(); ++m) {
          EXPECT_EQ(model.h.nets(v)[m], first + model.cells.indices(m)[v]);
          first += model.cells.extent(m);
        }
      }
    }
}

TEST(CoarseModel, joins_slices_that_share_a_nonzero) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto x = test::random_tensor({6, 5, 7}, 30, seed);
    const auto model = coarse_model(x, SliceWeights::per_mode);
    std::vector<std::map<Index, Index>> vertex_of(3);
    Index next = 0;
    for (int m = 0; m < 3; ++m)
      for (const Index slice : model.slices[m]) vertex_of[m][slice] = next++;
    ASSERT_EQ(next, model.h.num_vertices());
    std::vector<std::set<LocalIndex>> expected(std::size_t(next), std::set<LocalIndex>{});
    for (Index z = 0; z < x.num_nonzeros(); ++z)
      for (int m = 0; m < 3; ++m)
        for (int other = 0; other < 3; ++other)
          expected[vertex_of[m][x.indices(m)[z]]].insert(LocalIndex(vertex_of[other][x.indices(other)[z]]));
    for (Index net = 0; net < next; ++net) EXPECT_TRUE(std::ranges::equal(model.h.pins(net), expected[net]));
    for (int m = 0; m < 3; ++m) EXPECT_EQ(total_weight(model.h, m), fine_model(x).h.num_vertices());
  }
}

TEST(CoarseModel, counts_nonzeros_that_repeat_once) {
  const SparseTensor<double> x({2, 2}, {{0, 0, 0, 1}, {0, 0, 1, 1}}, {1, 2, 3, 4});
  const auto model = coarse_model(x, SliceWeights::per_mode);
  EXPECT_EQ(model.h.vertex_weight(0, 0), 2);
  EXPECT_EQ(model.h.vertex_weight(1, 0), 1);
  EXPECT_EQ(model.h.vertex_weight(2, 1), 1);
  EXPECT_EQ(model.h.vertex_weight(3, 1), 2);
}

TEST(RowModel, has_rows_as_vertices_and_columns_as_nets_or_the_other_way_round) {
  const auto x = test::random_tensor({9, 6}, 25, 3);
  for (const int mode : {0, 1}) {
    const auto model = row_model(x, mode);
    EXPECT_EQ(model.h.num_vertices(), std::ssize(model.slices[0]));
    EXPECT_EQ(model.h.num_nets(), std::ssize(model.slices[1]));
    EXPECT_EQ(total_weight(model.h, 0), x.num_nonzeros());
    for (Index net = 0; net < model.h.num_nets(); ++net) {
      std::set<Index> rows;
      for (Index z = 0; z < x.num_nonzeros(); ++z)
        if (x.indices(1 - mode)[z] == model.slices[1][net]) rows.insert(x.indices(mode)[z]);
      std::set<Index> pins;
      for (const auto v : model.h.pins(net)) pins.insert(model.slices[0][v]);
      EXPECT_EQ(pins, rows);
    }
    EXPECT_THROW(row_model(test::random_tensor({3, 3, 3}, 5, 1), mode), Error);
  }
}

TEST(Tilings, are_even_and_follow_the_indices) {
  for (const auto& shape : test::odd_shapes())
    for (const int num_parts : {1, 2, 3, 7, 16}) {
      const auto cells = fine_model(test::random_tensor(shape, 60, 5)).cells;
      for (const auto& make : all_tilings(cells, num_parts)) {
        const auto tiling = make();
        std::vector<Index> count(std::size_t(num_parts), 0);
        for (const int part : tiling.parts) ++count[part];
        EXPECT_LE(std::ranges::max(count) - std::ranges::min(count), 1) << tiling.name;
      }
      for (int m = 0; m < cells.order(); ++m) {
        const auto parts = block_tiling(cells, num_parts, m).parts;
        for (Index a = 0; a < cells.num_nonzeros(); ++a)
          for (Index b = 0; b < cells.num_nonzeros(); b += 7)
            EXPECT_TRUE(cells.indices(m)[a] >= cells.indices(m)[b] || parts[a] <= parts[b]);
      }
    }
}

}  // namespace
}  // namespace polyad::hypergraph
