#include "polyad/hypergraph/partition_with_rows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "polyad/base/error.hpp"
#include "polyad/base/random.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/generated.hpp"
#include "tests/support/random_tensor.hpp"

namespace polyad::hypergraph {
namespace {

Index num_slices_of(const SparseTensor<double>& x) {
  return std::accumulate(x.extents().begin(), x.extents().end(), Index(0));
}

// Of every slice with nonzeros: the parts that have nonzeros of it or own it, less one.
Index connectivity_by_sets(const SparseTensor<double>& x, std::span<const int> parts) {
  Index sum = 0, first = x.num_nonzeros();
  for (int m = 0; m < x.order(); ++m) {
    std::map<Index, std::set<int>> touching;
    for (Index z = 0; z < x.num_nonzeros(); ++z) touching[x.indices(m)[z]].insert(parts[std::size_t(z)]);
    for (auto& [slice, of_slice] : touching) {
      of_slice.insert(parts[std::size_t(first + slice)]);
      sum += std::ssize(of_slice) - 1;
    }
    first += x.extent(m);
  }
  return sum;
}

TensorPartitionOptions options_of(int num_parts, std::uint64_t seed,
                                  PartitionMethod method = PartitionMethod::hypergraph) {
  TensorPartitionOptions options;
  options.model = PartitionModel::fine_with_rows;
  options.method = method;
  options.hypergraph.num_parts = num_parts;
  options.hypergraph.seed = seed;
  return options;
}

TEST(OwnersOfRows, need_the_row_unless_all_who_do_own_as_many_as_they_may) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto x = test::random_tensor({40, 7, 23}, Index(20 + 13 * seed), seed);
    const int num_parts = 2 + int(seed % 7);
    const auto model = fine_model(x);
    const auto h = with_row_vertices(model);
    std::vector<int> cells;
    for (Index v = 0; v < model.h.num_vertices(); ++v)
      cells.push_back(int(Random(seed, 1).below(std::uint64_t(num_parts), std::uint64_t(v))));
    const auto limits = part_limits(h, num_parts, 0.05);

    const auto parts = with_owners_of_rows(model, cells, limits);

    ASSERT_EQ(std::ssize(parts), h.num_vertices());
    EXPECT_TRUE(std::equal(cells.begin(), cells.end(), parts.begin()));
    const auto weights = measure_partition(h, parts, num_parts).part_weights;
    Index net = 0;
    for (int m = 0; m < 3; ++m) {
      const auto c = std::size_t(m) + 1;
      for (int part = 0; part < num_parts; ++part) EXPECT_LE(weights[c][part], limits[c][part]) << seed;
      for (Index i = 0; i < model.cells.extent(m); ++i, ++net) {
        std::set<int> touching;
        for (const auto cell : model.h.pins(net)) touching.insert(cells[cell]);
        const int owner = parts[std::size_t(model.h.num_vertices() + net)];
        if (touching.contains(owner)) continue;
        for (const int part : touching) EXPECT_EQ(weights[c][part], limits[c][part]) << seed;
      }
    }
  }
}

TEST(PartitionWithRows, assigns_nonzeros_and_slices_and_keeps_every_balance) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (const auto method : {PartitionMethod::hypergraph, PartitionMethod::bisection, PartitionMethod::block,
                              PartitionMethod::random}) {
      const auto x = test::random_tensor({30, 50, 20}, 700, seed);
      const int num_parts = 2 + int(seed % 5);
      const auto found = partition_tensor(x, options_of(num_parts, seed, method));
      ASSERT_EQ(std::ssize(found.parts), x.num_nonzeros() + num_slices_of(x));
      EXPECT_EQ(std::ssize(found.parts), num_partitioned(x, PartitionModel::fine_with_rows));
      for (const int part : found.parts) ASSERT_TRUE(part >= 0 && part < num_parts);
      EXPECT_EQ(found.metrics.connectivity, connectivity_by_sets(x, found.parts));
      ASSERT_EQ(found.metrics.imbalance.size(), 4);
      const auto h = model_of(x, options_of(num_parts, seed));
      EXPECT_EQ(std::tuple(found.num_vertices, found.num_nets, found.num_pins),
                std::tuple(h.num_vertices(), h.num_nets(), h.num_pins()));
      const auto again = measured_partition(x, options_of(num_parts, seed), found.parts);
      EXPECT_EQ(again.metrics.connectivity, found.metrics.connectivity);
      EXPECT_EQ(again.metrics.part_weights, found.metrics.part_weights);
      if (method == PartitionMethod::block || method == PartitionMethod::random) continue;
      const auto limits = part_limits(h, num_parts, 0.05);
      for (std::size_t c = 0; c < 4; ++c)
        for (int part = 0; part < num_parts; ++part)
          EXPECT_LE(found.metrics.part_weights[c][part], limits[c][part]) << seed << " " << to_string(method);
    }
}

TEST(PartitionWithRows, is_never_worse_than_owners_chosen_for_the_parts_of_the_fine_model) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto x = test::tame_tensor({60, 90, 40}, 1500, seed);
    const int num_parts = 3 + int(seed);
    auto fine = options_of(num_parts, seed);
    fine.model = PartitionModel::fine;
    const auto nonzeros = partition_tensor(x, fine);
    const auto model = fine_model(x);
    std::vector<int> cells(std::size_t(model.h.num_vertices()));
    for (std::size_t z = 0; z < nonzeros.parts.size(); ++z) cells[model.vertex_of[z]] = nonzeros.parts[z];
    const auto h = with_row_vertices(model);
    const auto start = with_owners_of_rows(model, cells, part_limits(h, num_parts, 0.05));
    const auto found = partition_tensor(x, options_of(num_parts, seed));
    EXPECT_LE(found.metrics.connectivity, measure_partition(h, start, num_parts).connectivity);
  }
}

TEST(PartitionWithRows, every_part_has_nonzeros) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index num_nonzeros = 4 + Index(seed % 9);
    const auto x = test::random_tensor({9, 7, 5}, num_nonzeros, seed);
    const int num_cells = int(fine_model(x).h.num_vertices());
    for (const int num_parts : {2, num_cells / 2 + 1, num_cells})
      for (const auto method :
           {PartitionMethod::hypergraph, PartitionMethod::bisection, PartitionMethod::random}) {
        const auto made = partition_tensor(x, options_of(num_parts, seed, method));
        const auto of_nonzeros = std::span(made.parts).first(std::size_t(x.num_nonzeros()));
        EXPECT_EQ(std::set<int>(of_nonzeros.begin(), of_nonzeros.end()).size(), num_parts) << seed;
        EXPECT_EQ(made.metrics.connectivity, connectivity_by_sets(x, made.parts)) << seed;
      }
  }
}

TEST(PartitionWithRows, is_the_same_on_any_number_of_threads) {
  const auto x = test::tame_tensor({60, 90, 40}, 1500, 5);
  std::vector<std::vector<int>> found;
  for (const int threads : {1, 3}) {
    const test::Threads used(threads);
    found.push_back(partition_tensor(x, options_of(6, 3)).parts);
  }
  EXPECT_EQ(found[0], found[1]);
}

TEST(PartitionWithRows, takes_odd_shapes_and_says_where_slices_are_too_many) {
  for (const auto& shape : test::odd_shapes()) {
    const auto x = test::random_tensor(shape, 60, 2);
    const auto count = [&] { return partition_tensor(x, options_of(2, 1)).parts.size(); };
    if (std::ranges::max(shape) > 1000)
      EXPECT_THROW(count(), Error);
    else
      EXPECT_EQ(Index(count()), x.num_nonzeros() + num_slices_of(x));
  }
}

}  // namespace
}  // namespace polyad::hypergraph
