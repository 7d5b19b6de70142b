#include "polyad/comm/comm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/comm/runtime.hpp"
#include "tests/support/comm_items.hpp"

namespace polyad {
namespace {

using namespace test;  // items and worlds

template <class T>
class CommNumbers : public testing::Test {};
using Numbers = testing::Types<std::int32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(CommNumbers, Numbers);

template <class T>
class CommItems : public testing::Test {};
TYPED_TEST_SUITE(CommItems, ItemTypes);

template <class T>
T combined(T a, T b, Reduce op) {
  if (op == Reduce::sum) return a + b;
  return op == Reduce::max ? std::max(a, b) : std::min(a, b);
}

TYPED_TEST(CommNumbers, all_reduce_combines_element_by_element) {
  std::uint64_t seed = 1;
  for (const Comm& comm : worlds())
    for (const Reduce op : {Reduce::sum, Reduce::max, Reduce::min})
      for (const Index n : {0, 1, 2, 3, 4, 6, 7, 8, 21, 50}) {
        ++seed;
        auto expected = items<TypeParam>(seed, 0, n);
        for (int r = 1; r < comm.size(); ++r)
          for (Index i = 0; i < n; ++i) expected[i] = combined(expected[i], item<TypeParam>(seed, r, i), op);
        auto actual = items<TypeParam>(seed, comm.rank(), n);

        comm.all_reduce(std::span(actual), op);

        EXPECT_EQ(actual, expected) << "n " << n << " limit " << comm.message_limit();
        if (n > 0) {
          EXPECT_EQ(comm.all_reduce(item<TypeParam>(seed, comm.rank(), 0), op), expected[0]);
        }
      }
}

TEST(Comm, all_ranks_get_the_same_bits_of_a_sum_and_again_on_repetition) {
  const Comm comm = Comm::world();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<double> first(1000);
    for (Index i = 0; i < 1000; ++i) first[i] = Random(seed, std::uint64_t(comm.rank())).normal(i);
    auto second = first;

    comm.all_reduce(std::span(first));
    comm.all_reduce(std::span(second));

    auto of_root = first;
    comm.broadcast(of_root, 0);
    EXPECT_EQ(first, of_root);
    EXPECT_EQ(first, second);
  }
}

TEST(Comm, all_reduce_keeps_the_full_range_of_integers) {
  const Comm comm = Comm::world();
  constexpr auto big = std::numeric_limits<std::uint64_t>::max();
  constexpr auto low = std::numeric_limits<Index>::min();

  EXPECT_EQ(comm.all_reduce(comm.rank() == 0 ? big : std::uint64_t(1), Reduce::max), big);
  EXPECT_EQ(comm.all_reduce(comm.rank() == 0 ? low : Index(1), Reduce::min), low);
}

TYPED_TEST(CommItems, broadcast_gives_all_what_the_root_has) {
  std::uint64_t seed = 1;
  for (const Comm& comm : worlds())
    for (int root = 0; root < comm.size(); ++root)
      for (const Index n : {0, 1, 3, 7, 8, 20}) {
        ++seed;
        const auto expected = items<TypeParam>(seed, root, n);
        std::vector<TypeParam> resized(std::size_t(3));
        Array<TypeParam> array(std::size_t(5));
        if (comm.rank() == root) {
          resized = expected;
          array.assign(expected.begin(), expected.end());
        }
        auto in_place = items<TypeParam>(seed, comm.rank(), n);

        comm.broadcast(resized, root);
        comm.broadcast(array, root);
        comm.broadcast(std::span(in_place), root);

        EXPECT_EQ(resized, expected);
        EXPECT_TRUE(same(array, expected));
        EXPECT_EQ(in_place, expected);
        EXPECT_EQ(comm.broadcast(item<TypeParam>(seed, comm.rank(), 99), root),
                  item<TypeParam>(seed, root, 99));
      }
}

TYPED_TEST(CommItems, all_gather_lists_one_value_of_each_rank) {
  for (const Comm& comm : worlds())
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      std::vector<TypeParam> expected(std::size_t(comm.size()));
      for (int r = 0; r < comm.size(); ++r) expected[r] = item<TypeParam>(seed, r, 5);

      EXPECT_EQ(comm.all_gather(item<TypeParam>(seed, comm.rank(), 5)), expected);
    }
}

TYPED_TEST(CommItems, varying_gathers_concatenate_in_the_order_of_ranks) {
  for (const Comm& comm : worlds())
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<TypeParam> expected;
      std::vector<Index> counts;
      for (int r = 0; r < comm.size(); ++r) {
        counts.push_back(count_for(seed, r, 0));
        append(expected, items<TypeParam>(seed, r, counts.back()));
      }
      const auto mine = items<TypeParam>(seed, comm.rank(), counts[comm.rank()]);
      const int root = int(seed) % comm.size();

      const auto all = comm.all_gather_varying<TypeParam>(mine);
      const auto at_root = comm.gather_varying<TypeParam>(mine, root);

      EXPECT_EQ(all.counts, counts);
      EXPECT_TRUE(same(all.items, expected));
      EXPECT_EQ(at_root.counts, counts);
      EXPECT_TRUE(same(at_root.items, comm.rank() == root ? expected : std::vector<TypeParam>()));
    }
}

TEST(Comm, gathers_may_have_no_items_at_all_or_all_on_one_rank) {
  for (const Comm& comm : worlds())
    for (int owner = -1; owner < comm.size(); ++owner) {
      const std::vector<Index> expected = owner < 0 ? std::vector<Index>() : items<Index>(7, owner, 9);
      const std::vector<Index> mine = comm.rank() == owner ? expected : std::vector<Index>();

      EXPECT_TRUE(same(comm.all_gather_varying<Index>(mine).items, expected));
      EXPECT_TRUE(same(comm.gather_varying<Index>(mine, 0).items,
                       comm.rank() == 0 ? expected : std::vector<Index>()));
    }
}

TYPED_TEST(CommItems, scatter_hands_out_what_gather_collects) {
  std::uint64_t seed = 1;
  for (const Comm& comm : worlds())
    for (int root = 0; root < comm.size(); ++root) {
      ++seed;
      std::vector<Index> counts;
      std::vector<TypeParam> all;
      for (int r = 0; r < comm.size(); ++r) {
        counts.push_back(count_for(seed, r, root));
        append(all, items<TypeParam>(seed, r, counts.back()));
      }
      const bool is_root = comm.rank() == root;
      std::vector<TypeParam> mine(static_cast<std::size_t>(counts[comm.rank()])),
          gathered(is_root ? all.size() : 0), everywhere(all.size());

      comm.scatter_varying<TypeParam>(
          is_root ? std::span<const TypeParam>(all) : std::span<const TypeParam>(), counts, mine, root);
      comm.gather_varying<TypeParam>(mine, counts, gathered, root);
      comm.all_gather_varying<TypeParam>(mine, counts, everywhere);

      EXPECT_TRUE(same(mine, items<TypeParam>(seed, comm.rank(), counts[comm.rank()])));
      if (is_root) {
        EXPECT_TRUE(same(gathered, all));
      }
      EXPECT_TRUE(same(everywhere, all));
    }
}

template <class Real>
void expect_sums_of_stretches() {
  std::uint64_t seed = 1;
  for (const Comm& comm : worlds())
    for (int round = 0; round < 10; ++round) {
      ++seed;
      std::vector<Index> counts;
      for (int r = 0; r < comm.size(); ++r) counts.push_back(count_for(seed, r, 0));
      const Index n = std::accumulate(counts.begin(), counts.end(), Index(0));
      std::vector<Real> sums(std::size_t(n), 0), mine(static_cast<std::size_t>(counts[comm.rank()]));
      for (int r = 0; r < comm.size(); ++r)
        for (Index i = 0; i < n; ++i) sums[i] += item<Real>(seed, r, i);

      const auto all = items<Real>(seed, comm.rank(), n);
      comm.reduce_scatter<Real>(all, counts, mine);

      const Index begin = std::accumulate(counts.begin(), counts.begin() + comm.rank(), Index(0));
      EXPECT_TRUE(std::equal(mine.begin(), mine.end(), sums.begin() + begin));
    }
}

TEST(Comm, reduce_scatter_gives_every_rank_its_stretch_of_the_sum) {
  expect_sums_of_stretches<double>();
  expect_sums_of_stretches<float>();
}

TYPED_TEST(CommItems, all_to_all_brings_every_item_to_its_rank) {
  for (const Comm& comm : worlds())
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<TypeParam> send, expected;
      std::vector<Index> send_counts, expected_counts;
      for (int r = 0; r < comm.size(); ++r) {
        send_counts.push_back(count_for(seed, comm.rank(), r));
        append(send, items<TypeParam>(seed * 100 + std::uint64_t(r), comm.rank(), send_counts.back()));
        expected_counts.push_back(count_for(seed, r, comm.rank()));
        append(expected,
               items<TypeParam>(seed * 100 + std::uint64_t(comm.rank()), r, expected_counts.back()));
      }

      const auto recv_counts = comm.exchange_counts(send_counts);
      std::vector<TypeParam> recv(expected.size());
      comm.all_to_all<TypeParam>(send, send_counts, recv, recv_counts);

      EXPECT_EQ(recv_counts, expected_counts);
      EXPECT_EQ(recv, expected);
    }
}

TEST(Comm, all_to_all_takes_large_messages_and_arrays) {
  const Comm comm = Comm::world();
  constexpr Index n = 200'000;  // beyond what MPI sends before the receiver is ready
  Array<double> send, recv(std::size_t(n * comm.size()));
  for (int to = 0; to < comm.size(); ++to)
    for (Index i = 0; i < n; ++i) send.push_back(double(comm.rank() * 1000 + to) + double(i) * 1e-6);
  const std::vector<Index> counts(std::size_t(comm.size()), n);

  comm.all_to_all<double>(send, counts, recv, counts);

  Index wrong = 0;
  for (int from = 0; from < comm.size(); ++from)
    for (Index i = 0; i < n; ++i)
      wrong += recv[std::size_t(from * n + i)] != double(from * 1000 + comm.rank()) + double(i) * 1e-6;
  EXPECT_EQ(wrong, 0);
}

TEST(Comm, split_by_parity_makes_two_worlds) {
  for (const Comm& world : worlds()) {
    const int parity = world.rank() % 2;

    const Comm half = world.split(parity, world.rank());

    EXPECT_EQ(half.size(), (world.size() + 1 - parity) / 2);
    EXPECT_EQ(half.rank(), world.rank() / 2);
    EXPECT_EQ(half.message_limit(), world.message_limit());
    std::vector<int> members;
    for (int r = parity; r < world.size(); r += 2) members.push_back(r);
    EXPECT_EQ(half.all_gather(world.rank()), members);
    EXPECT_TRUE(same(half.all_gather_varying<int>(std::vector<int>(2, parity)).items,
                     std::vector<int>(members.size() * 2, parity)));
  }
}

TEST(Comm, split_orders_by_key_then_by_rank) {
  const Comm world = Comm::world();

  const Comm reversed = world.split(0, -world.rank()), tied = world.split(5, 0);

  EXPECT_EQ(reversed.rank(), world.size() - 1 - world.rank());
  EXPECT_EQ(tied.rank(), world.rank());
  EXPECT_EQ(world.split(world.rank(), 0).size(), 1);
}

TEST(Comm, self_is_a_world_of_one) {
  const Comm self = Comm::self();
  EXPECT_EQ(self.size(), 1);
  EXPECT_EQ(self.rank(), 0);
  for (int i = 0; i <= Comm::world().rank(); ++i) {  // each rank as often as it likes
    self.barrier();
    EXPECT_EQ(self.all_reduce(5), 5);
    EXPECT_EQ(self.all_gather(7), std::vector<int>{7});
  }
}

TEST(Comm, copies_share_the_communicator) {
  const Comm comm = Comm::world();
  const Comm copy = comm;  // NOLINT(performance-unnecessary-copy-initialization): what is tested
  std::vector<int> in(1);
  const std::vector<int> out{comm.rank()};

  Request receiving = copy.irecv<int>(in, comm.rank());
  Comm::world().isend<int>(out, comm.rank()).wait();
  receiving.wait();

  EXPECT_EQ(in, out);
}

TEST(Comm, knows_whether_all_ranks_arrive) {
  const Comm world = Comm::world(), comm = world.split(0, world.rank());
  EXPECT_TRUE(comm.all_arrive_within(30));
  if (world.size() == 1) return;

  if (world.rank() != 0) {
    EXPECT_FALSE(comm.all_arrive_within(0.05));
  }
  world.barrier();
  if (world.rank() == 0) {
    EXPECT_TRUE(comm.all_arrive_within(30));
  }
  world.barrier();
}

TEST(Comm, refuses_what_cannot_travel) {
  static_assert(Shippable<double> && Shippable<Entry> && Shippable<std::array<Index, 3>>);
  static_assert(!Shippable<int*> && !Shippable<std::span<int>> && !Shippable<std::string_view>);
  static_assert(!Shippable<std::vector<int>> && !Number<bool> && !Number<char>);
}

TEST(Runtime, describes_its_mpi_on_one_line) {
  const std::string text = mpi_description();
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace polyad
