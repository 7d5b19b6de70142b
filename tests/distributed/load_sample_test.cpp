#include "polyad/distributed/cp/load_sample.hpp"

#include <gtest/gtest.h>

#include <map>

#include "polyad/plan/strategies.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

// A third of the nonzeros are in slice 0 of each mode, which has far more than the others.
SparseTensor<double> tensor_with_long_rows(std::uint64_t seed) {
  return test::tame_tensor({900, 2000, 1100}, 60000, seed, true);
}

std::map<Index, Index> count_by_row(std::span<const Index> indices) {
  std::map<Index, Index> counts;
  for (const Index row : indices) ++counts[row];
  return counts;
}

TEST(LoadSample, has_all_nonzeros_of_its_rows_but_of_long_ones_a_part) {
  const Comm comm = Comm::world();
  const auto share = test::share_of(tensor_with_long_rows(3), comm);
  const Index most = comm.size() == 1 ? share.num_nonzeros() : 16 * comm.size();
  bool has_long_row = false;
  for (int m = 0; m < share.order(); ++m) {
    const auto all = count_by_row(share.indices(m));
    const auto sample = sample_loads(comm, share, 0.2);
    ASSERT_LT(sample.rows[m].fraction, 1);
    std::vector<Index> rows;
    Index before = -1;
    for (const Index z : sample.rows[m].places) {
      EXPECT_LT(before, z);
      before = z;
      rows.push_back(share.indices(m)[z]);
    }
    for (const auto& [row, count] : count_by_row(rows)) {
      EXPECT_EQ(count, std::min(all.at(row), most)) << "mode " << m << ", row " << row;
      has_long_row = has_long_row || all.at(row) > most;
    }
  }
  EXPECT_EQ(comm.all_reduce(std::int32_t(has_long_row), Reduce::max), comm.size() > 1 ? 1 : 0)
      << "no long row is in the sample";
}

// What is sent, predicted from a sample, is near what it is.
TEST(LoadSample, estimates_loads_of_tensors_with_long_rows) {
  const Comm comm = Comm::world();
  const auto share = test::share_of(tensor_with_long_rows(5), comm);
  const Distributor distributor(comm, share, comm.size(), 1);
  const LoadPlanner exact(comm, share), sampled(comm, share, 0.5);
  for (const auto& distribution :
       {distributor.fine_random(), distributor.coarse_block(), distributor.fine_block()}) {
    const auto expected = exact.loads(distribution), found = sampled.loads(distribution);
    for (int m = 0; m < share.order(); ++m) {
      const auto sum = [](const ModeLoads& loads) {
        Index sent = 0;
        for (const auto& part : loads) sent += part.sent;
        return double(sent);
      };
      EXPECT_NEAR(sum(found[m]), sum(expected[m]), 0.1 * sum(expected[m]) + 20)
          << describe(distribution) << m;
    }
  }
}

// Two thirds of the nonzeros are near the diagonal of modes 0 and 1; the others are in a hundred rows of mode
// 1, anywhere in mode 0.
SparseTensor<double> tensor_with_a_hundred_long_rows() {
  auto x = test::tame_tensor({3000, 2000, 400}, 60000, 7);
  for (Index z = 0; z < x.num_nonzeros(); ++z) {
    const Index near = x.indices(0)[z] * 2 / 3;
    x.indices(1)[z] = z % 3 == 0 ? 20 * (x.indices(1)[z] % 100) : near - near % 4;
  }
  return x;
}

TEST(LoadSample, estimates_complete_nonzeros_and_nodes_of_tensors_with_long_rows) {
  const Comm comm = Comm::world();
  const auto share = test::share_of(tensor_with_a_hundred_long_rows(), comm);
  const Distributor distributor(comm, share, 2 * comm.size(), 1);
  LoadPlanner exact(comm, share), sampled(comm, share, 0.5);
  const std::vector<std::vector<int>> trees{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}};
  exact.count_nodes(trees);
  sampled.count_nodes(trees);
  for (const auto& distribution :
       {distributor.fine_random(), distributor.coarse_block(), distributor.fine_block(),
        distributor.medium(GridShape({comm.size(), 1, 2}), {}, RowRule::greedy)}) {
    const auto expected = exact.loads(distribution), found = sampled.loads(distribution);
    for (int m = 0; m < share.order(); ++m) {
      const auto sums = [](const ModeLoads& loads) {
        double complete = 0, nodes = 0;
        for (const auto& part : loads) complete += double(part.complete);
        for (const Index count : loads.nodes) nodes += double(count);
        return std::pair(complete, nodes);
      };
      const auto [complete, nodes] = sums(expected[m]);
      const auto [complete_found, nodes_found] = sums(found[m]);
      EXPECT_NEAR(complete_found, complete, 0.08 * complete + 200) << describe(distribution) << m;
      // Of mode 2, random nonzeros are in the sample and not whole rows.
      const double tolerance = m == 2 ? 0.15 : 0.08;
      EXPECT_NEAR(nodes_found, nodes, tolerance * nodes) << describe(distribution) << m;
      EXPECT_NEAR(found[m].nodes_per_nonzero, expected[m].nodes_per_nonzero,
                  tolerance * expected[m].nodes_per_nonzero);
    }
  }
}

}  // namespace
}  // namespace polyad
