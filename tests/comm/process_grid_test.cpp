#include "polyad/comm/process_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/error.hpp"

namespace polyad {
namespace {

const std::vector<std::vector<int>> shapes{{1},       {7},          {1, 1},    {2, 3},         {3, 2},
                                           {4, 1, 5}, {2, 3, 4},    {1, 6, 1}, {2, 2, 2, 2},   {3, 1, 2, 5},
                                           {16, 64},  {8, 8, 8, 2}, {101, 11}, {2, 3, 2, 3, 2}};

// All ways to write n as an ordered product of `order` factors.
std::vector<std::vector<int>> factorizations(int n, int order) {
  if (order == 1) return {{n}};
  std::vector<std::vector<int>> all;
  for (int first = 1; first <= n; ++first)
    if (n % first == 0)
      for (auto rest : factorizations(n / first, order - 1)) {
        rest.insert(rest.begin(), first);
        all.push_back(rest);
      }
  return all;
}

void expect_bad_option(const std::string& message, const std::vector<int>& dims) {
  try {
    const ProcessGrid grid(Comm::world(), GridShape(dims));
    ADD_FAILURE() << "accepted; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
    EXPECT_EQ(error.what(), message);
  }
}

TEST(GridShape, ranks_count_the_coordinates_with_the_last_mode_fastest) {
  for (const auto& dims : shapes) {
    const GridShape shape(dims);
    std::vector<int> coords(dims.size(), 0);
    for (int rank = 0; rank < shape.size(); ++rank) {
      EXPECT_EQ(shape.coords(rank), coords);
      EXPECT_EQ(shape.rank_at(coords), rank);
      for (int m = shape.order() - 1; m >= 0 && ++coords[m] == dims[m]; --m) coords[m] = 0;
    }
    EXPECT_EQ(coords, std::vector<int>(dims.size(), 0)) << "size() is not the product";
  }
}

TEST(GridShape, layers_are_the_ranks_that_share_a_coordinate) {
  for (const auto& dims : shapes) {
    const GridShape shape(dims);
    for (int mode = 0; mode < shape.order(); ++mode)
      for (int c = 0; c < shape.dim(mode); ++c) {
        std::vector<int> expected;
        for (int rank = 0; rank < shape.size(); ++rank)
          if (shape.coords(rank)[mode] == c) expected.push_back(rank);

        EXPECT_EQ(shape.layer(mode, c), expected);
      }
  }
}

TEST(GridShape, works_at_the_largest_sizes) {
  constexpr int max = std::numeric_limits<int>::max();  // a prime
  const GridShape shape({1, max, 1});

  EXPECT_EQ(shape.size(), max);
  EXPECT_EQ(shape.coords(max - 1), (std::vector<int>{0, max - 1, 0}));
  EXPECT_EQ(shape.rank_at(std::vector<int>{0, max - 1, 0}), max - 1);
  EXPECT_EQ(shape.layer(1, max - 1), std::vector<int>{max - 1});
  EXPECT_EQ(GridShape({1 << 10, 1 << 10, 1 << 10}).coords((1 << 30) - 1),
            (std::vector<int>{1023, 1023, 1023}));
}

TEST(GridShape, prints_as_the_user_writes_it) {
  EXPECT_EQ(to_string(GridShape({2, 3, 4})), "2x3x4");
  EXPECT_EQ(to_string(GridShape({12})), "12");
}

TEST(GridShape, refuses_the_impossible) {
  expect_bad_option("a grid needs at least one dimension", {});
  expect_bad_option("grid 2x0x3: every dimension must be at least 1", {2, 0, 3});
  expect_bad_option("grid -1: every dimension must be at least 1", {-1});
  expect_bad_option("grid 65536x32768 has more than 2^31 - 1 processes", {65536, 32768});
  expect_bad_option("grid 2000000000x2000000000x0: every dimension must be at least 1",
                    {2'000'000'000, 2'000'000'000, 0});
}

bool differ_in_no_other_mode(const GridShape& shape, std::span<const int> modes, int a, int b) {
  auto x = shape.coords(a), y = shape.coords(b);
  for (const int mode : modes) x[mode] = y[mode] = 0;
  return x == y;
}

// The ranks that differ from `rank` in these modes only.
std::set<int> plane_of(const GridShape& shape, std::span<const int> modes, int rank) {
  std::set<int> ranks;
  for (int other = 0; other < shape.size(); ++other)
    if (differ_in_no_other_mode(shape, modes, rank, other)) ranks.insert(other);
  return ranks;
}

TEST(ProcessGrid, has_the_coordinates_of_its_shape) {
  const Comm world = Comm::world();
  for (int order = 1; order <= 4; ++order)
    for (const auto& dims : factorizations(world.size(), order)) {
      const GridShape shape(dims);

      const ProcessGrid grid(world, shape);

      EXPECT_EQ(grid.shape(), shape);
      EXPECT_EQ(grid.comm().rank(), world.rank());
      for (int mode = 0; mode < order; ++mode) EXPECT_EQ(grid.coord(mode), shape.coord(world.rank(), mode));
    }
}

TEST(ProcessGrid, the_plane_of_one_mode_is_a_line_and_that_of_the_others_a_layer) {
  const Comm world = Comm::world();
  for (const auto& dims : factorizations(world.size(), 3)) {
    const ProcessGrid grid(world, GridShape(dims));
    for (int mode = 0; mode < 3; ++mode) {
      const int c = grid.coord(mode);
      EXPECT_EQ(grid.plane({mode}).rank(), c);
      const auto layer = grid.plane({(mode + 1) % 3, (mode + 2) % 3}).all_gather(world.rank());
      const auto expected = grid.shape().layer(mode, c);
      EXPECT_EQ(std::set(layer.begin(), layer.end()), std::set(expected.begin(), expected.end()));
    }
  }
}

TEST(ProcessGrid, refuses_a_grid_for_another_number_of_processes) {
  const int size = Comm::world().size();
  const std::string but = size == 1 ? ", but 1 runs" : ", but " + std::to_string(size) + " run";
  expect_bad_option("grid 2x13 has 26 processes" + but, {2, 13});
  expect_bad_option(
      "grid 3x" + std::to_string(size) + " has " + std::to_string(3 * size) + " processes" + but, {3, size});
  if (size > 1) expect_bad_option("grid 1x1 has 1 process" + but, {1, 1});
}

TEST(ProcessGrid, a_plane_is_numbered_by_its_coordinates_with_the_first_named_mode_fastest) {
  for (const auto& dims : factorizations(Comm::world().size(), 3)) {
    const ProcessGrid grid(Comm::world(), GridShape(dims));
    for (const auto& modes : {std::vector<int>{0}, {1}, {0, 2}, {2, 0}, {1, 0, 2}}) {
      const auto& plane = grid.plane(modes);
      int size = 1;
      for (const int mode : modes) size *= grid.shape().dim(mode);
      EXPECT_EQ(plane.size(), size);
      EXPECT_EQ(plane.rank(), grid.shape().number_in_plane(modes, grid.comm().rank()));
      const auto ranks = plane.all_gather(grid.comm().rank());
      for (int number = 0; number < size; ++number)
        EXPECT_EQ(ranks[number], grid.shape().rank_in_plane(modes, grid.comm().rank(), number));
      EXPECT_EQ(std::set(ranks.begin(), ranks.end()), plane_of(grid.shape(), modes, grid.comm().rank()));
      EXPECT_EQ(&plane, &grid.plane(modes)) << "made once";
    }
  }
}

}  // namespace
}  // namespace polyad
