#include "polyad/base/array.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/base/matrix.hpp"

namespace polyad {
namespace {

TEST(Array, large_arrays_begin_at_huge_pages_and_small_ones_at_cache_lines) {
  const Array<double> large(1 << 20), small(3);

  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % (2 << 20), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(small.data()) % 64, 0);
}

TEST(Array, grows_and_keeps_its_values_like_a_vector) {
  Array<std::int64_t> a;
  for (int i = 0; i < 100'000; ++i) a.push_back(i);
  a.resize(50'000);

  EXPECT_EQ(std::accumulate(a.begin(), a.end(), std::int64_t(0)), std::int64_t(49'999) * 25'000);
}

TEST(Array, is_zero_where_that_was_asked_for) {
  const Array<float> a(1000, 0.0F);

  EXPECT_EQ(std::count(a.begin(), a.end(), 0.0F), 1000);
}

TEST(Array, what_cannot_be_had_is_a_resource_error_that_names_the_amount) {
  try {
    allocate_pages(std::size_t(1) << 60);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::resource);
    EXPECT_TRUE(std::string(e.what()).starts_with("out of memory: 1.15 EB were asked for, and about "))
        << e.what();
  }
}

TEST(Matrix, rows_are_contiguous_and_start_at_zero) {
  Matrix<double> a(3, 2);
  a(1, 0) = 5;
  a.row(2)[1] = 7;

  EXPECT_EQ(std::vector<double>(a.flat().begin(), a.flat().end()), (std::vector<double>{0, 0, 5, 0, 0, 7}));
  EXPECT_EQ(a.row(1)[0], 5);
  EXPECT_EQ(a, a);
  EXPECT_FALSE(a == Matrix<double>(2, 3));
}

TEST(Matrix, in_memory_of_somebody_else_keeps_what_is_there_and_its_copies_are_elsewhere) {
  std::vector<double> place{1, 2, 3, 4, 5, 6, 7};
  Matrix<double> a(3, 2, place);
  Matrix<double> copy = a;
  copy(0, 0) = 10;
  a(2, 1) = 60;
  EXPECT_EQ(place, (std::vector<double>{1, 2, 3, 4, 5, 60, 7}));

  a.set_num_rows(1);
  a.set_num_rows(3);
  EXPECT_EQ(a.flat().data(), place.data());
  Matrix<double> moved;
  moved = std::move(a);
  EXPECT_EQ(moved.flat().data(), place.data());
  moved = copy;
  EXPECT_EQ(moved(0, 0), 10);
  moved = Matrix<double>(2, 2);
  moved(0, 0) = 8;
  EXPECT_EQ(place[0], 10);  // of the assignment before, which has stayed in place
}

TEST(Error, says_where_in_the_users_file_it_is) {
  EXPECT_STREQ(Error(Errc::bad_input, "found 3", {"x.tns", 7}).what(), "x.tns:7: found 3");
  EXPECT_STREQ(Error(Errc::bad_input, "is empty", {"x.tns", 0}).what(), "x.tns: is empty");
  EXPECT_STREQ(Error(Errc::bad_option, "no").what(), "no");
}

}  // namespace
}  // namespace polyad
