#include "polyad/distributed/cp/pair_set.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "polyad/base/random.hpp"

namespace polyad {
namespace {

using Pairs = std::set<std::pair<int, int>>;

// Some pairs of a process, many of which others have too.
std::vector<std::pair<int, int>> pairs_of(int rank, Index num_first, Index num_second, Index count) {
  const Random random(3, std::uint64_t(rank) % 3);
  std::vector<std::pair<int, int>> pairs;
  for (Index i = 0; i < count; ++i)
    pairs.emplace_back(int(random.below(std::uint64_t(num_first), std::uint64_t(2 * i))),
                       int(random.below(std::uint64_t(num_second), std::uint64_t(2 * i + 1))));
  return pairs;
}

void expect_each_once(Index num_first, Index num_second, Index count) {
  const Comm comm = Comm::world();
  PairSet half(num_first, num_second), other_half(num_first, num_second);
  Pairs expected;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto pairs = pairs_of(rank, num_first, num_second, count);
    expected.insert(pairs.begin(), pairs.end());
    if (rank != comm.rank()) continue;
    for (std::size_t i = 0; i < pairs.size(); ++i)
      (i % 2 == 0 ? half : other_half).add(pairs[i].first, pairs[i].second);
  }
  half.add(other_half);
  Pairs found;
  Index num_calls = 0;
  half.for_each_of_all(comm, [&](int first, int second) {
    EXPECT_TRUE(expected.contains({first, second}));
    found.emplace(first, second);
    ++num_calls;
  });
  EXPECT_EQ(std::ssize(found), num_calls);
  EXPECT_EQ(comm.all_reduce(num_calls), std::ssize(expected));
}

TEST(PairSet, has_each_pair_of_all_processes_once) {
  for (const Index count : {0, 1, 500}) {
    expect_each_once(1, 1, count);
    expect_each_once(3, 70, count);
    expect_each_once(100, 100, count);
    expect_each_once(20000, 128, count);
  }
}

// So many that there is no bit for each, and so many additions that the list is tidied on the way.
TEST(PairSet, lists_pairs_of_many_parts) {
  expect_each_once(16384, 16384, 3000);  // still bits
  expect_each_once(16385, 16385, 3000);
  expect_each_once(1 << 20, 1 << 20, 3000);
  expect_each_once(1 << 20, 1 << 10, 200000);
}

}  // namespace
}  // namespace polyad
