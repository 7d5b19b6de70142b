#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>
#include <random>

#include "polyad/io/bytes/input_file.hpp"
#include "polyad/io/tensors/binary/array_tensor.hpp"
#include "tests/support/read_cells.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

using test::Cell;
using test::Cells;

// How MATLAB stores numbers: the type of an element, and the class of an array of them.
struct MatNumber {
  std::uint32_t type, array_class;
  std::string name;
  std::function<void(std::string&, int number, bool big_endian)> append;
  bool is_signed;
};

template <class Number>
MatNumber mat_number(std::uint32_t type, std::uint32_t array_class, const std::string& name) {
  return {type, array_class, name,
          [](std::string& to, int number, bool big) { test::append_element(to, Number(number), big); },
          std::is_signed_v<Number>};
}

const std::vector<MatNumber> mat_numbers{
    mat_number<std::int8_t>(1, 8, "int8"),     mat_number<std::uint8_t>(2, 9, "uint8"),
    mat_number<std::int16_t>(3, 10, "int16"),  mat_number<std::uint16_t>(4, 11, "uint16"),
    mat_number<std::int32_t>(5, 12, "int32"),  mat_number<std::uint32_t>(6, 13, "uint32"),
    mat_number<float>(7, 7, "float32"),        mat_number<double>(9, 6, "float64"),
    mat_number<std::int64_t>(12, 14, "int64"), mat_number<std::uint64_t>(13, 15, "uint64")};
const MatNumber& mat_double = mat_numbers[7];

// Writes the parts of a file of level 5.
class MatWriter {
 public:
  explicit MatWriter(bool big_endian) : big_endian_(big_endian) {}

  // With the short form of a tag where the data have at most 4 bytes and `is_short`.
  std::string element(std::uint32_t type, const std::string& data, bool is_short = false) const {
    std::string bytes;
    if (is_short && data.size() <= 4) {
      test::append_element(bytes, std::uint32_t(data.size() << 16 | type), big_endian_);
      return bytes + data + std::string(4 - data.size(), '\0');
    }
    test::append_element(bytes, type, big_endian_);
    test::append_element(bytes, std::uint32_t(data.size()), big_endian_);
    bytes += data;
    return bytes + std::string((8 - data.size() % 8) % 8, '\0');
  }
  std::string numbers(const MatNumber& as, const std::vector<Index>& values, bool is_short = false) const {
    std::string data;
    for (const Index value : values) as.append(data, int(value), big_endian_);
    return element(as.type, data, is_short);
  }

  // A variable of parts that begin behind its name.
  std::string variable(const std::string& name, std::uint32_t flags, const std::vector<Index>& dims,
                       const std::string& parts) const {
    std::string flag_words;
    test::append_element(flag_words, flags, big_endian_);
    test::append_element(flag_words, std::uint32_t(0), big_endian_);
    return element(14,
                   element(6, flag_words) + numbers(mat_numbers[4], dims) + element(1, name, true) + parts);
  }

  static std::string compressed(const std::string& variable, bool big_endian) {
    auto size = compressBound(uLong(variable.size()));
    std::string packed(size, '\0');
    compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(variable.data()),
             uLong(variable.size()));
    packed.resize(size);
    std::string bytes;
    test::append_element(bytes, std::uint32_t(15), big_endian);
    test::append_element(bytes, std::uint32_t(size), big_endian);
    return bytes + packed;
  }

  std::string file(const std::string& variables) const {
    std::string head = "MATLAB 5.0 MAT-file, written by a test";
    head.resize(124, ' ');
    test::append_element(head, std::uint16_t(0x0100), big_endian_);
    return head + (big_endian_ ? "MI" : "IM") + variables;
  }

 private:
  bool big_endian_;
};

class MatTensor : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& bytes) { return folder_.write("x.mat", bytes); }
  Index draw(Index below) { return Index(random_() % std::uint64_t(below)); }
  // Perhaps compressed, with things around it that are no arrays.
  std::filesystem::path write_among_others(const MatWriter& mat, const std::string& variable,
                                           bool big_endian) {
    const auto scalar = mat.variable("n", 6, {1, 1}, mat.numbers(mat_double, {7}));
    const auto text = mat.variable("t", 4, {1, 2}, mat.numbers(mat_numbers[3], {65, 66}, true));
    const auto maybe_packed = [&](const std::string& one) {
      return draw(2) == 0 ? one : MatWriter::compressed(one, big_endian);
    };
    return write(mat.file(maybe_packed(scalar) + maybe_packed(variable) + maybe_packed(text)));
  }

  test::TemporaryFolder folder_;
  std::mt19937 random_{11};
};

TEST_F(MatTensor, dense_arrays_of_any_type_are_their_nonzeros) {
  for (int round = 0; round < 200; ++round) {
    const auto& number = mat_numbers[std::size_t(round) % mat_numbers.size()];
    // MATLAB stores doubles that are small whole numbers in fewer bytes.
    const auto& stored = number.array_class == 6 ? mat_numbers[std::size_t(draw(6))] : number;
    const bool big_endian = draw(2) == 0;
    const MatWriter mat(big_endian);
    std::vector<Index> dims(std::size_t(2 + draw(4)));
    Index size = 1;
    for (auto& dim : dims) size *= dim = 1 + draw(5);
    if (size == 1) size = dims[0] = 2;
    std::vector<Index> values;
    Cells expected;
    for (Index place = 0; place < size; ++place) {
      values.push_back(draw(2) == 0 ? 0 : draw(100) - (stored.is_signed ? 50 : 0));
      Cell at;
      Index rest = place;
      for (const Index dim : dims) {
        at.push_back(rest % dim);
        rest /= dim;
      }
      if (values.back() != 0) expected[at] = double(values.back());
    }
    const auto variable =
        mat.variable("x", number.array_class, dims, mat.numbers(stored, values, draw(2) == 0));
    const auto path = write_among_others(mat, variable, big_endian);
    test::expect_reads(path, dims, expected, fmt::format("{} {}", number.name, fmt::join(dims, "x")));
    const auto arrays = list_arrays(InputFile(path), TensorFormat::mat);
    ASSERT_EQ(arrays.size(), 3);
    EXPECT_EQ(arrays[1].name, "x");
    EXPECT_EQ(arrays[1].shape, dims);
    EXPECT_EQ(arrays[1].type, number.name);
    EXPECT_EQ(arrays[2].type, "char");
  }
}

TEST_F(MatTensor, sparse_matrices_keep_their_entries) {
  for (int round = 0; round < 200; ++round) {
    const bool big_endian = draw(2) == 0;
    const MatWriter mat(big_endian);
    const std::vector<Index> dims{2 + draw(6), 1 + draw(6)};
    std::vector<Index> rows, begins{0}, values;
    Cells expected;
    for (Index column = 0; column < dims[1]; ++column) {
      for (Index row = 0; row < dims[0]; ++row) {
        if (draw(3) != 0) continue;
        rows.push_back(row);
        values.push_back(draw(200) - 100);  // zeros among them
        expected[{row, column}] = double(values.back());
      }
      begins.push_back(std::ssize(rows));
    }
    for (Index spare = draw(3); spare > 0; --spare) {  // MATLAB may have allocated more
      rows.push_back(0);
      values.push_back(9);
    }
    const auto& stored = round % 2 == 0 ? mat_double : mat_numbers[0];
    const auto parts = mat.numbers(mat_numbers[4], rows, draw(2) == 0) + mat.numbers(mat_numbers[4], begins) +
                       mat.numbers(stored, values, draw(2) == 0);
    const auto path = write_among_others(mat, mat.variable("s", 5, dims, parts), big_endian);
    test::expect_reads(path, dims, expected, fmt::format("round {}", round));
    EXPECT_EQ(list_arrays(InputFile(path), TensorFormat::mat)[1].type, "sparse");
  }
}

TEST_F(MatTensor, faults_are_named) {
  const MatWriter mat(false);
  const auto numbers = [&](const std::vector<Index>& values) { return mat.numbers(mat_double, values); };
  const auto whole = [&](const std::vector<Index>& values) { return mat.numbers(mat_numbers[4], values); };
  const auto dense = mat.variable("a", 6, {2, 2}, numbers({1, 2, 3, 4}));
  test::expect_fault(
      write(mat.file("")),
      "holds no sparse matrix and no array of numbers, which are what is read of MATLAB files");
  test::expect_fault(write(mat.file(dense + mat.variable("b", 6, {1, 2}, numbers({1, 2})))),
                     "holds the arrays 'a', 'b'; expected one: save it to a file of its own");
  test::expect_fault(write(mat.file(mat.variable("a", 6, {2, 2}, numbers({1, 2, 3})))),
                     "'a' has 3 numbers, expected 4 for 2x2");
  test::expect_fault(write(mat.file(mat.variable("a", 6 | 0x0800, {2, 2}, numbers({1, 2, 3, 4})))),
                     "'a' is complex, expected real numbers");
  const auto cut = mat.file(dense);
  test::expect_fault(write(cut.substr(0, cut.size() - 8)),
                     "is truncated: a variable has 80 bytes, and 72 are left");
  test::expect_fault(
      write(mat.file(mat.variable("s", 5, {2, 2}, whole({0, 1}) + whole({0, 1}) + numbers({1, 2})))),
      "'s' has 2 beginnings of columns, expected 3");
  test::expect_fault(
      write(mat.file(mat.variable("s", 5, {2, 2}, whole({0, 1}) + whole({0, 2, 1}) + numbers({1, 2})))),
      "column 3 of 's' begins at entry 1, expected one from 2 to 2");
  EXPECT_THROW(read_tensor(write(mat.file(
                   mat.variable("s", 5, {2, 2}, whole({0, 2}) + whole({0, 1, 2}) + numbers({1, 2}))))),
               Error);
}

TEST_F(MatTensor, every_prefix_of_a_file_is_refused_or_read) {
  const MatWriter mat(false);
  const auto variable = mat.variable("x", 6, {2, 3}, mat.numbers(mat_double, {1, 0, 2, 0, 0, 3}));
  for (const auto& bytes : {mat.file(variable), mat.file(MatWriter::compressed(variable, false))})
    for (std::size_t size = 128; size < bytes.size(); ++size)
      EXPECT_THROW(read_tensor(write(bytes.substr(0, size))), Error) << size;
}

}  // namespace
}  // namespace polyad::io
