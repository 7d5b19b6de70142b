#include <gtest/gtest.h>

#include <map>
#include <set>

#include "polyad/base/error.hpp"
#include "polyad/tensor/distinct_counts.hpp"
#include "polyad/tensor/local_tensor.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/generated.hpp"

namespace polyad {
namespace {

using Entries = std::map<std::vector<Index>, double>;

Entries entries(const SparseTensor<double>& x) {
  Entries all;
  for (Index z = 0; z < x.num_nonzeros(); ++z) all[test::coordinates(x, z)] += x.values()[z];
  return all;
}

template <class Id>
std::vector<Index> place(const SparseTensor<double, Id>& x, Index z) {
  std::vector<Index> at;
  for (int m = 0; m < x.order(); ++m) at.push_back(Index(x.indices(m)[z]));
  return at;
}

Entries entries(const SparseTensor<double, LocalIndex>& x) {
  Entries all;
  for (Index z = 0; z < x.num_nonzeros(); ++z) all[place(x, z)] += x.values()[z];
  return all;
}

Entries entries(const CsfTree<double>& tree) {
  Entries all;
  std::vector<Index> at(std::size_t(tree.order()), 0);
  for (Index z = 0; z < tree.num_nonzeros(); ++z) {
    Index node = z;
    for (int level = tree.last_level(); level >= 0; --level) {
      at[tree.modes()[level]] = tree.ids(level)[node];
      if (level > 0) node = tree.parent(level, node);
    }
    all[at] += tree.values()[z];
  }
  return all;
}

Entries entries(const HicooTensor<double>& x) {
  Entries all;
  std::vector<Index> at(std::size_t(x.order()), 0);
  for (Index block = 0; block < x.num_blocks(); ++block)
    for (Index z = x.first[block]; z < x.first[block + 1]; ++z) {
      for (int m = 0; m < x.order(); ++m)
        at[m] = (Index(x.places[m][block]) << x.block_bits) + x.offsets[m][z];
      all[at] += x.values[z];
    }
  return all;
}

TEST(Compact, keeps_every_entry_under_new_numbers) {
  for (const auto& shape : test::problem_shapes()) {
    auto extents = shape.extents;
    for (Index& extent : extents) extent *= 1000;  // most slices are empty
    const auto x = test::tame_tensor(extents, shape.num_nonzeros, 3);

    const auto compacted = compact<double>(x);

    Entries found;
    for (Index z = 0; z < compacted.tensor.num_nonzeros(); ++z) {
      auto at = place(compacted.tensor, z);
      for (int m = 0; m < x.order(); ++m) at[m] = compacted.rows[m][at[m]];
      found[at] += compacted.tensor.values()[z];
    }
    EXPECT_EQ(found.size(), std::size_t(compacted.tensor.num_nonzeros()));
    EXPECT_EQ(found.size(), entries(x).size());
    for (const auto& [at, value] : entries(x)) EXPECT_NEAR(found[at], value, 1e-12);
    for (int m = 0; m < x.order(); ++m) {
      EXPECT_TRUE(std::ranges::is_sorted(compacted.rows[m]));
      EXPECT_EQ(compacted.tensor.extent(m), std::ssize(compacted.rows[m]));
    }
    EXPECT_EQ(compacted.num_duplicates, x.num_nonzeros() - compacted.tensor.num_nonzeros());
    EXPECT_EQ(compacted.global_extents, x.extents());
  }
}

TEST(Compact, numbers_the_slices_of_modes_without_end) {
  SparseTensor<double> x({Index(1) << 62, 5});
  x.append(std::vector<Index>{(Index(1) << 61) + 7, 4}, 1.0);
  x.append(std::vector<Index>{3, 4}, 2.0);

  const auto compacted = compact<float>(x);

  EXPECT_EQ(compacted.rows[0], (Array<Index>{3, (Index(1) << 61) + 7}));
  EXPECT_EQ(compacted.rows[1], (Array<Index>{4}));
}

TEST(SquaredNorm, is_the_same_for_any_number_of_threads) {
  const auto x = test::random_matrix<double>(1000, 17, 1);
  const auto with = [&](int count) {
    return test::with_threads(count, [&] { return squared_norm<double>(x.flat()); });
  };

  double expected = 0;
  for (const double value : x.flat()) expected += value * value;
  EXPECT_NEAR(with(1), expected, 1e-9);
  EXPECT_EQ(with(1), with(7));
}

TEST(CsfTree, holds_the_tensor_for_every_order_of_modes) {
  for (const auto& shape : test::problem_shapes()) {
    const auto compacted = compact<double>(test::tame_tensor(shape.extents, shape.num_nonzeros, 5));
    auto modes = natural_mode_order(compacted.tensor.order());
    do {
      auto x = compacted.tensor;
      const CsfTree<double> copied(x, modes);
      EXPECT_EQ(entries(copied), entries(compacted.tensor));
      EXPECT_EQ(entries(x), entries(compacted.tensor)) << "is only sorted";
      const CsfTree<double> moved(std::move(x), modes);
      EXPECT_EQ(entries(moved), entries(compacted.tensor));
    } while (modes.size() < 5 && std::ranges::next_permutation(modes).found);
  }
}

TEST(CsfTree, stores_every_prefix_once) {
  const auto compacted = compact<double>(test::tame_tensor({9, 8, 7, 6}, 400, 5));
  auto x = compacted.tensor;
  const CsfTree<double> tree(x, {2, 0, 3, 1});

  for (int level = 0; level < 4; ++level) {
    std::set<std::vector<Index>> prefixes;
    for (Index z = 0; z < x.num_nonzeros(); ++z) {
      std::vector<Index> prefix;
      for (int l = 0; l <= level; ++l) prefix.push_back(Index(x.indices(tree.modes()[l])[z]));
      prefixes.insert(prefix);
    }
    EXPECT_EQ(tree.num_nodes(level), std::ssize(prefixes));
  }
  EXPECT_EQ(tree.level_of(3), 2);
}

TEST(HicooTensor, holds_the_tensor) {
  for (const auto& shape : test::problem_shapes()) {
    const auto compacted =
        compact<double>(test::tame_tensor(shape.extents, shape.num_nonzeros, 5, shape.heavy));

    const auto hicoo = build_hicoo(compacted.tensor);

    EXPECT_EQ(entries(hicoo), entries(compacted.tensor));
    std::set<std::vector<LocalIndex>> places;
    for (Index block = 0; block < hicoo.num_blocks(); ++block) {
      std::vector<LocalIndex> at;
      for (int m = 0; m < hicoo.order(); ++m) at.push_back(hicoo.places[m][block]);
      EXPECT_TRUE(places.insert(at).second) << "a block comes once";
    }
  }
}

TEST(Formats, know_their_memory_before_they_are_built) {
  for (const auto& shape : test::problem_shapes()) {
    const auto x = compact<double>(test::tame_tensor(shape.extents, shape.num_nonzeros, 5)).tensor;
    const auto natural = natural_mode_order(x.order());
    auto copy = x;
    const CsfTree<double> tree(copy, natural);
    std::vector<Index> nodes;
    for (int level = 0; level < tree.order(); ++level) nodes.push_back(tree.num_nodes(level));

    EXPECT_EQ(csf_bytes(nodes, 8), bytes(build_format(x, Format::csf, {natural})));
    // A mode that happens to be sorted needs no list.
    EXPECT_GE(coo_bytes(x.extents(), x.num_nonzeros(), 8), bytes(build_format(x, Format::coo, {})));
    EXPECT_EQ(hicoo_bytes(x.extents(), x.num_nonzeros(), build_hicoo(x).num_blocks(), 8),
              bytes(build_format(x, Format::hicoo, {})));
  }
}

TEST(DistinctCounts, are_near_the_truth_and_do_not_depend_on_threads) {
  const auto compacted = compact<double>(test::tame_tensor({50, 3000, 400}, 60000, 8));
  const auto& x = compacted.tensor;
  const std::vector<ModeSet> sets{0b001, 0b010, 0b011, 0b101, 0b110, 0b111};

  const std::vector<std::span<const Index>> rows(compacted.rows.begin(), compacted.rows.end());
  const auto estimate = [&] {
    std::vector<double> estimates;
    for (const auto& sketch : sketch_distinct<double>(x, rows, sets)) estimates.push_back(sketch.estimate());
    return estimates;
  };

  const auto estimates = estimate();

  for (std::size_t s = 0; s < sets.size(); ++s) {
    std::set<std::vector<Index>> distinct;
    for (Index z = 0; z < x.num_nonzeros(); ++z) {
      auto at = place(x, z);
      for (int m = 0; m < 3; ++m)
        if ((sets[s] >> m & 1) == 0) at[m] = 0;
      distinct.insert(at);
    }
    EXPECT_NEAR(estimates[s], double(distinct.size()), 0.06 * double(distinct.size()));
  }
  EXPECT_EQ(test::with_threads(7, estimate), estimates);
  EXPECT_NEAR(estimate_blocks(x), double(build_hicoo(x).num_blocks()), 4);
}

}  // namespace
}  // namespace polyad
