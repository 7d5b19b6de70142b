#include "polyad/tensor/sort.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "tests/support/random_tensor.hpp"

namespace polyad {
namespace {

using Coordinates = std::vector<Index>;

Coordinates coordinates_of(const SparseTensor<double>& x, Index z, const std::vector<int>& modes) {
  Coordinates c;
  for (const int m : modes) c.push_back(x.indices(m)[z]);
  return c;
}

// The naive way: sort a list of whole nonzeros.
SparseTensor<double> sorted_naively(const SparseTensor<double>& x, const std::vector<int>& modes) {
  std::vector<Index> places(x.values().size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, {}, [&](Index z) { return coordinates_of(x, z, modes); });
  SparseTensor<double> sorted(x.extents());
  for (const Index z : places)
    sorted.append(coordinates_of(x, z, natural_mode_order(x.order())), x.values()[z]);
  return sorted;
}

TEST(Sort, agrees_with_the_naive_sort_in_every_mode_order) {
  std::uint64_t seed = 1;
  for (const auto& shape : test::odd_shapes())
    for (const int threads : {1, 3}) {
      omp_set_num_threads(threads);
      const auto x = test::random_tensor(shape, 300, ++seed);
      auto modes = natural_mode_order(x.order());
      for (int repeat = 0; repeat < 4; ++repeat) {
        auto sorted = x;
        sort_nonzeros(sorted, modes);
        ASSERT_EQ(sorted, sorted_naively(x, modes));
        std::ranges::rotate(modes, modes.begin() + 1);
        if (repeat == 1) std::ranges::reverse(modes);
      }
    }
}

TEST(Sort, duplicates_add_up_to_the_sums_of_a_map) {
  std::uint64_t seed = 50;
  for (const auto& shape : test::odd_shapes()) {
    auto x = test::random_tensor(shape, 200, ++seed);
    std::map<Coordinates, double> expected;
    const auto modes = natural_mode_order(x.order());
    for (Index z = 0; z < x.num_nonzeros(); ++z) expected[coordinates_of(x, z, modes)] += x.values()[z];

    sort_nonzeros(x, modes);
    const Index counted = count_duplicates(x), merged = merge_duplicates(x);

    EXPECT_EQ(counted, merged);
    ASSERT_EQ(x.num_nonzeros(), Index(expected.size()));
    EXPECT_EQ(merged, 200 - x.num_nonzeros());
    Index z = 0;
    for (const auto& [where, value] : expected) {
      EXPECT_EQ(coordinates_of(x, z, modes), where);
      EXPECT_EQ(x.values()[z++], value);  // bit for bit: both add in the order of the file
    }
    EXPECT_EQ(merge_duplicates(x), 0);
  }
}

TEST(Sort, empty_and_single_nonzeros_are_ordinary) {
  SparseTensor<float> none({4, 5});
  sort_nonzeros(none, natural_mode_order(2));
  EXPECT_EQ(merge_duplicates(none), 0);

  SparseTensor<float> one({4, 5});
  one.append(std::vector<Index>{3, 4}, 2.5F);
  sort_nonzeros(one, natural_mode_order(2));
  EXPECT_EQ(merge_duplicates(one), 0);
  EXPECT_EQ(one.indices(1)[0], 4);
}

}  // namespace
}  // namespace polyad
