#include "polyad/base/radix_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"

namespace polyad {
namespace {

Array<KeyedPosition> random_items(Index n, int bits, std::uint64_t seed) {
  Array<KeyedPosition> items(n);
  for (Index i = 0; i < n; ++i)
    items[i] = {bits == 0 ? 0 : Random(seed, 0).bits(std::uint64_t(i))[0] >> (64 - bits), i};
  return items;
}

TEST(RadixSort, agrees_with_a_stable_sort_for_any_key_width_and_thread_count) {
  for (const int threads : {1, 2, 3, 8})
    for (const int bits : {0, 1, 7, 8, 11, 12, 23, 33, 63, 64})
      for (const Index n : {0, 1, 2, 5, 100, 4099}) {
        omp_set_num_threads(threads);
        auto items = random_items(n, bits, std::uint64_t(n + bits));
        auto expected = items;
        std::ranges::stable_sort(expected, {}, &KeyedPosition::key);

        radix_sort(items, bits);

        ASSERT_EQ(items, expected) << threads << " threads, " << bits << " bits, " << n << " items";
      }
}

TEST(RadixSort, keeps_the_order_of_equal_keys) {
  auto items = random_items(10'000, 2, 5);

  radix_sort(items, 2);

  for (Index i = 1; i < 10'000; ++i)
    EXPECT_TRUE(items[i - 1].key < items[i].key || items[i - 1].position < items[i].position);
}

}  // namespace
}  // namespace polyad
