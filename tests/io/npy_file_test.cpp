#include "polyad/io/arrays/npy_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "polyad/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

template <class Real>
std::string bytes_of(const std::vector<Real>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Real)};
}

class NpyFileTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& bytes) { return folder_.write("x.npy", bytes); }
  void expect_refused(const std::string& bytes, const std::string& why) {
    const auto path = write(bytes);
    try {
      const NpyFile file(path);
      std::vector<double> numbers(2);
      file.read<double>(0, numbers);
      ADD_FAILURE() << "accepted; expected: " << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_input);
      EXPECT_EQ(error.what(), path.string() + ": " + why);
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(NpyFileTest, shares_of_any_array_are_read) {
  const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
  const NpyFile file(write(npy_header(std::vector<Index>{3, 1, 2}) + bytes_of(numbers)));

  EXPECT_EQ(file.head().shape, (std::vector<Index>{3, 1, 2}));
  std::vector<double> share(3);
  file.read<double>(2, share);
  EXPECT_EQ(share, (std::vector<double>{3, 4, 5}));
  std::vector<float> singles(6);
  file.read<float>(0, singles);
  EXPECT_EQ(singles, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST_F(NpyFileTest, floats_scalars_and_empty_arrays_are_arrays_too) {
  const NpyFile scalar(write(npy_header({}, 4) + bytes_of<float>({2.5f})));
  EXPECT_TRUE(scalar.head().shape.empty());
  std::vector<double> number(1);
  scalar.read<double>(0, number);
  EXPECT_EQ(number[0], 2.5);

  const NpyFile none(write(npy_header(std::vector<Index>{0, 3})));
  EXPECT_EQ(none.head().shape, (std::vector<Index>{0, 3}));
}

TEST_F(NpyFileTest, other_byte_orders_and_fortran_order_are_known) {
  auto header = npy_header(std::vector<Index>{2});
  header.replace(header.find("'<f8'"), 5, "'>f8'");
  header.replace(header.find("False"), 5, "True");
  header.insert(header.size() - 1, " ");
  const std::string big_endian("\x3f\xf0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0", 16);
  const NpyFile file(write(header + big_endian));
  EXPECT_TRUE(file.head().by_columns);
  std::vector<double> numbers(2);
  file.read<double>(0, numbers);
  EXPECT_EQ(numbers, (std::vector<double>{1, 2}));
}

TEST_F(NpyFileTest, what_is_no_array_gets_a_sentence) {
  expect_refused("hello", "is too short for an .npy array");
  expect_refused(std::string(100, 'x'), "is no .npy array of version 1, 2 or 3");
  expect_refused(npy_header(std::vector<Index>{2}) + bytes_of<double>({1}),
                 "has 8 bytes of numbers, expected 16 for the shape (2)");
  // 2^130 bytes, which are none when they are counted in 128 bits.
  expect_refused(npy_header(std::vector<Index>(4, Index(1) << 32)),
                 "has 0 bytes of numbers, expected 2^63 or more for the shape "
                 "(4294967296, 4294967296, 4294967296, 4294967296)");
  expect_refused(npy_header(std::vector<Index>{0, Index(1) << 62, 2}),
                 "has 0 bytes of numbers, expected 2^63 or more for the shape (0, 4611686018427387904, 2)");
  auto neither = npy_header(std::vector<Index>{1});
  neither.replace(neither.find("False"), 5, "Maybe");
  expect_refused(neither, "has fortran_order 'Maybe' in its .npy header, expected True or False");
  auto integers = npy_header(std::vector<Index>{2});
  integers.replace(integers.find("<f8"), 3, "<i8");
  expect_refused(integers, "has dtype '<i8'; only f8 and f4 are read");
  expect_refused(
      npy_header(std::vector<Index>{2}) + bytes_of<double>({1, std::numeric_limits<double>::quiet_NaN()}),
      "has the value 'nan' as number 1, which is not finite");
}

TEST_F(NpyFileTest, a_placed_file_appears_when_it_is_committed) {
  const auto path = folder_ / "y.npy";
  NewPlacedFile whole(path, 6);
  {
    const PlacedFile one(path, whole.place()), other(path, whole.place());
    other.write(3, "def");
    one.write(0, "abc");
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  whole.commit();

  EXPECT_EQ(test::contents(path), "abcdef");
  EXPECT_THROW(NewPlacedFile(folder_ / "none" / "z", 1), Error);
  EXPECT_THROW(NewPlacedFile(path.parent_path(), 1).commit(), Error);
  EXPECT_EQ(test::names_in(path.parent_path()), std::vector<std::string>{"y.npy"});
}

}  // namespace
}  // namespace polyad::io
