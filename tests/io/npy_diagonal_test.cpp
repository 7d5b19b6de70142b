#include "polyad/io/arrays/npy_diagonal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/base/random.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

// A file with the numbers 0, 1, 2, ... in its order: every number identifies its position.
class NpyDiagonalTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::vector<Index>& shape, bool by_columns) {
    Index size = 1;
    for (const Index extent : shape) size *= extent;
    std::vector<double> numbers(static_cast<std::size_t>(size));
    std::iota(numbers.begin(), numbers.end(), 0);
    return write(shape, by_columns, numbers);
  }
  std::filesystem::path write(const std::vector<Index>& shape, bool by_columns,
                              const std::vector<double>& numbers) {
    auto header = npy_header(shape);
    if (by_columns) header.replace(header.find("False"), 5, "True ");
    return folder_.write(
        "x.npy", header + std::string(reinterpret_cast<const char*>(numbers.data()), 8 * numbers.size()));
  }

  test::TemporaryFolder folder_;
};

Index position(const std::vector<Index>& index, const std::vector<Index>& shape, bool by_columns) {
  Index at = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t m = by_columns ? shape.size() - 1 - i : i;
    at = at * shape[m] + index[m];
  }
  return at;
}

// The places of the diagonal's elements in the file, by the definition: in the order of all indices of the
// diagonal, the fastest as the file has it.
std::vector<double> expected_places(const std::vector<int>& labels, const std::vector<Index>& shape,
                                    const std::vector<int>& distinct, const std::vector<Index>& diagonal,
                                    bool by_columns) {
  std::vector<double> places;
  Index size = 1;
  for (const Index extent : diagonal) size *= extent;
  for (Index i = 0; i < size; ++i) {
    std::vector<Index> at(diagonal.size()), index(shape.size());
    Index rest = i;
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      const std::size_t m = by_columns ? k : diagonal.size() - 1 - k;
      at[m] = rest % diagonal[m];
      rest /= diagonal[m];
    }
    for (std::size_t m = 0; m < labels.size(); ++m)
      index[m] = at[std::size_t(std::ranges::find(distinct, labels[m]) - distinct.begin())];
    places.push_back(double(position(index, shape, by_columns)));
  }
  return places;
}

TEST_F(NpyDiagonalTest, diagonals_are_those_of_the_definition) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Random random(seed, 1);
    const auto order = random.below(5, 0), kinds = 1 + random.below(3, 1);
    std::vector<Index> extents, shape, diagonal;
    for (std::uint64_t k = 0; k < kinds; ++k) extents.push_back(Index(random.below(5, 2 + k)));
    std::vector<int> labels, distinct;
    for (std::uint64_t m = 0; m < order; ++m) {
      labels.push_back(int(random.below(kinds, 10 + m)));
      shape.push_back(extents[std::size_t(labels.back())]);
      if (std::ranges::find(distinct, labels.back()) == distinct.end()) {
        distinct.push_back(labels.back());
        diagonal.push_back(shape.back());
      }
    }
    const bool by_columns = seed % 2 == 0;
    const NpyFile file(write(shape, by_columns));

    const NpyDiagonal x(file, labels);

    EXPECT_EQ(x.shape(), diagonal) << seed;
    const auto expected = expected_places(labels, shape, distinct, diagonal, by_columns);
    std::vector<double> all(expected.size());
    x.read<double>(0, all);
    EXPECT_EQ(all, expected) << seed;
    const auto half = Index(all.size() / 2);
    std::vector<float> rest(all.size() - std::size_t(half));
    x.read<float>(half, rest);
    EXPECT_TRUE(std::ranges::equal(rest, std::span(expected).subspan(std::size_t(half)))) << seed;
  }
}

// More than is read at once, and so far apart that nothing between is read.
TEST_F(NpyDiagonalTest, long_diagonals_are_read_in_parts) {
  for (const Index extent : {200, 700}) {
    const NpyFile file(write({extent, extent}, false));
    std::vector<double> numbers(static_cast<std::size_t>(extent));
    NpyDiagonal(file, {0, 0}).read<double>(0, numbers);
    for (Index i = 0; i < extent; ++i) ASSERT_EQ(numbers[std::size_t(i)], double(i * (extent + 1)));
  }
}

TEST_F(NpyDiagonalTest, what_is_not_on_it_may_be_anything_and_extents_must_agree) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto path = write({2, 2}, false, {1, nan, nan, 2});
  const NpyFile file(path);
  std::vector<double> numbers(2);
  NpyDiagonal(file, {0, 0}).read<double>(0, numbers);
  EXPECT_EQ(numbers, (std::vector<double>{1, 2}));
  EXPECT_THROW(NpyDiagonal(file, {0, 1}).read<double>(0, numbers), Error);

  const NpyFile oblong(write({2, 5, 3}, false));
  try {
    const NpyDiagonal diagonal(oblong, {0, 1, 0});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_input);
    EXPECT_EQ(error.what(),
              path.string() + ": has no diagonal of dimensions 1 and 3: they have extents 2 and 3");
  }
}

}  // namespace
}  // namespace polyad::io
