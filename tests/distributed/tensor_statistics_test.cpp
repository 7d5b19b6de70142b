#include "polyad/distributed/tensor_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/support/random_tensor.hpp"

namespace polyad {
namespace {

// Each process brings every size-th nonzero: equal coordinates start on different processes.
SparseTensor<double> share_of(const SparseTensor<double>& whole, const Comm& comm) {
  SparseTensor<double> share(whole.extents());
  std::vector<Index> at(whole.extents().size());
  for (Index z = comm.rank(); z < whole.num_nonzeros(); z += comm.size()) {
    for (int m = 0; m < whole.order(); ++m) at[m] = whole.indices(m)[z];
    share.append(at, whole.values()[z]);
  }
  return share;
}

TEST(TensorStatistics, of_shares_are_those_of_the_whole_on_any_number_of_processes) {
  const Comm comm = Comm::world();
  std::uint64_t seed = 10;
  for (const auto& shape : test::odd_shapes())
    for (const Index n : {0, 1, 5, 700}) {
      const auto whole = test::random_tensor(shape, n, ++seed);
      std::map<std::vector<Index>, double> entries;
      std::vector<Index> at(shape.size());
      for (Index z = 0; z < n; ++z) {
        for (int m = 0; m < whole.order(); ++m) at[m] = whole.indices(m)[z];
        entries[at] += whole.values()[z];
      }

      const auto statistics = compute_statistics(comm, share_of(whole, comm));

      ASSERT_EQ(statistics.dims, shape);
      ASSERT_EQ(statistics.num_nonzeros, Index(entries.size()));
      EXPECT_EQ(statistics.num_duplicates, n - Index(entries.size()));
      double squares = 0;
      for (const auto& [where, value] : entries) squares += value * value;
      EXPECT_NEAR(statistics.norm, std::sqrt(squares), 1e-12 * std::sqrt(squares));
      for (int m = 0; m < whole.order(); ++m) {
        std::map<Index, Index> slices;
        for (const auto& [where, value] : entries) ++slices[where[m]];
        Index largest = 0;
        for (const auto& [slice, count] : slices) largest = std::max(largest, count);
        EXPECT_EQ(statistics.modes[m].nonempty, Index(slices.size()));
        EXPECT_EQ(statistics.modes[m].nonzeros, Index(entries.size()));
        EXPECT_EQ(statistics.modes[m].max, largest);
      }
    }
}

}  // namespace
}  // namespace polyad
