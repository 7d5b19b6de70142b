#include "polyad/tensor/slice_counts.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <map>

#include "tests/support/random_tensor.hpp"

namespace polyad {
namespace {

TEST(SliceCounts, agree_with_a_map_for_short_and_endless_modes) {
  std::uint64_t seed = 1;
  for (const auto& shape : test::odd_shapes())
    for (const Index n : {0, 1, 50, 3000})
      for (const int threads : {1, 4}) {
        omp_set_num_threads(threads);
        const auto x = test::random_tensor(shape, n, ++seed);
        for (int m = 0; m < x.order(); ++m) {
          std::map<Index, Index> expected;
          for (const Index i : x.indices(m)) ++expected[i];

          const SliceCounts counts = count_slices(x.indices(m), x.extent(m));

          ASSERT_EQ(counts.slices.size(), expected.size());
          std::size_t at = 0;
          for (const auto& [slice, count] : expected) {
            EXPECT_EQ(counts.slices[at], slice);
            EXPECT_EQ(counts.counts[at++], count);
          }
        }
      }
}

TEST(SliceCounts, summaries_of_disjoint_slices_add_up) {
  SliceCounts all, first, second;
  for (Index i = 0; i < 100; ++i) {
    const Index count = i * i + 1;
    all.slices.push_back(i);
    all.counts.push_back(count);
    auto& half = i < 37 ? first : second;
    half.slices.push_back(i);
    half.counts.push_back(count);
  }

  const SliceSummary whole = summarise(all), sum = summarise(first) + summarise(second);

  EXPECT_EQ(whole.nonempty, 100);
  EXPECT_EQ(whole.max, 99 * 99 + 1);
  EXPECT_EQ(whole.histogram[0], 1);  // one slice with a single nonzero
  EXPECT_EQ(whole.histogram[1], 1);  // one with 2
  EXPECT_EQ(whole.histogram[2], 1);  // one with 5
  EXPECT_EQ(sum.nonempty, whole.nonempty);
  EXPECT_EQ(sum.nonzeros, whole.nonzeros);
  EXPECT_EQ(sum.max, whole.max);
  EXPECT_EQ(sum.histogram, whole.histogram);
}

}  // namespace
}  // namespace polyad
