#include "polyad/distributed/tensor_fingerprint.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/random_tensor.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

using enum FingerprintOf;
using Tensor = SparseTensor<double>;

std::uint64_t alone(const Tensor& x, FingerprintOf what) {
  return tensor_fingerprint(Comm::self(), x, what);
}

Tensor small_tensor() {
  Tensor x({4, 3, 5});
  x.append(std::vector<Index>{0, 1, 2}, 1.5);
  x.append(std::vector<Index>{3, 0, 4}, -2);
  x.append(std::vector<Index>{3, 2, 0}, 0.1);
  return x;
}

TEST(TensorFingerprint, is_the_same_for_any_division_into_shares) {
  const Comm comm = Comm::world();
  std::uint64_t seed = 70;
  for (const auto& shape : test::odd_shapes())
    for (const Index n : {0, 1, 5, 300}) {
      const auto whole = test::random_tensor(shape, n, ++seed);
      const bool is_last = comm.rank() == comm.size() - 1;
      const Tensor all_on_last = is_last ? whole : Tensor(whole.extents());
      for (const auto what : {coordinates, coordinates_and_values}) {
        const auto expected = alone(whole, what);
        EXPECT_EQ(tensor_fingerprint(comm, test::share_of(whole, comm), what), expected);
        EXPECT_EQ(tensor_fingerprint(comm, all_on_last, what), expected);
      }
    }
}

TEST(TensorFingerprint, depends_on_coordinates_order_and_extents) {
  for (const auto what : {coordinates, coordinates_and_values}) {
    std::set<std::uint64_t> found{alone(small_tensor(), what)};
    for (const Index extra : {0, 1, 2}) {
      Tensor longer({4 + extra, 3, 5 + 2 - extra});
      longer.append(std::vector<Index>{0, 1, 2}, 1.5);
      EXPECT_TRUE(found.insert(alone(longer, what)).second);
      longer.append(std::vector<Index>{0, 1, 2}, 1.5);
      EXPECT_TRUE(found.insert(alone(longer, what)).second);
    }
    Tensor swapped({4, 3, 5});
    swapped.append(std::vector<Index>{3, 0, 4}, -2);
    swapped.append(std::vector<Index>{0, 1, 2}, 1.5);
    swapped.append(std::vector<Index>{3, 2, 0}, 0.1);
    EXPECT_TRUE(found.insert(alone(swapped, what)).second);
  }
}

TEST(TensorFingerprint, depends_on_values_only_where_asked) {
  auto x = small_tensor();
  const auto pattern = alone(x, coordinates), whole = alone(x, coordinates_and_values);
  EXPECT_NE(pattern, whole);
  x.values()[2] = 0.2;
  EXPECT_EQ(alone(x, coordinates), pattern);
  EXPECT_NE(alone(x, coordinates_and_values), whole);
}

TEST(TensorFingerprint, never_changes_for_stored_partitions_are_found_by_it) {
  EXPECT_EQ(alone(small_tensor(), coordinates), 0xEFE8F58EBF6D2350);
  EXPECT_EQ(extend_fingerprint(1, 2), 0xDAA66D2AA8EC1D5C);
}

}  // namespace
}  // namespace polyad
