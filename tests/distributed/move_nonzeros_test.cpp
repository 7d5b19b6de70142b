#include "polyad/distributed/move_nonzeros.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "polyad/base/random.hpp"

namespace polyad {
namespace {

constexpr Index extent = Index(1) << 40;

// Enough nonzeros per process for several rounds.
Index num_of(int process) {
  return 150000 + 1000 * process;
}

// The value of the z-th nonzero of a process identifies it.
Index first_index(int process, Index z) {
  return (Index(process) << 20) + z;
}

SparseTensor<double> share_of(int process) {
  SparseTensor<double> share({extent, 7});
  for (Index z = 0; z < num_of(process); ++z) {
    const std::vector<Index> at{first_index(process, z), z % 7};
    share.append(at, double(z) / 2 + process);
  }
  return share;
}

// Moves every process' nonzeros by a rule that all know, and compares with what the rule says should arrive.
void expect_all_arrive(const Comm& comm, const std::function<int(int, Index)>& owner) {
  std::vector<int> owners;
  for (Index z = 0; z < num_of(comm.rank()); ++z) owners.push_back(owner(comm.rank(), z));

  const auto arrived = move_nonzeros(comm, share_of(comm.rank()), owners);

  Index at = 0;
  for (int process = 0; process < comm.size(); ++process)
    for (Index z = 0; z < num_of(process); ++z) {
      if (owner(process, z) != comm.rank()) continue;
      ASSERT_LT(at, arrived.num_nonzeros());
      ASSERT_EQ(arrived.indices(0)[at], first_index(process, z));
      ASSERT_EQ(arrived.indices(1)[at], z % 7);
      ASSERT_EQ(arrived.values()[at], double(z) / 2 + process);
      ++at;
    }
  EXPECT_EQ(arrived.num_nonzeros(), at);
}

TEST(MoveNonzeros, brings_them_by_sender_in_its_order) {
  const auto comm = Comm::world();
  const Random random(3, 0);
  expect_all_arrive(comm, [&](int process, Index z) {
    return int(random.below(std::uint64_t(comm.size()), std::uint64_t(first_index(process, z))));
  });
}

TEST(MoveNonzeros, brings_all_to_one_process) {
  const auto comm = Comm::world();
  expect_all_arrive(comm, [&](int, Index) { return comm.size() - 1; });
}

TEST(MoveNonzeros, brings_those_of_which_one_process_gets_most_at_first) {
  const auto comm = Comm::world();
  expect_all_arrive(comm, [&](int, Index z) { return z < 100000 ? 0 : int(z % comm.size()); });
}

}  // namespace
}  // namespace polyad
