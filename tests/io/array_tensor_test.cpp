#include "polyad/io/tensors/binary/array_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/zip_writer.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "tests/support/read_cells.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

using test::append_element;
using test::Cell;
using test::Cells;
using test::expect_fault;
using test::expect_reads;

std::string array_header(const std::string& descr, const std::vector<Index>& shape, bool by_columns = false) {
  std::string header = fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': ({},), }}", descr,
                                   by_columns ? "True" : "False", fmt::join(shape, ", "));
  if (shape.empty()) header = fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': (), }}", descr);
  header += '\n';
  return std::string("\x93NUMPY\x01\0", 8) + char(header.size() & 0xFF) + char(header.size() >> 8) + header;
}

std::string index_array(const std::vector<Index>& numbers, std::vector<Index> shape = {}) {
  if (shape.empty()) shape = {std::ssize(numbers)};
  std::string bytes = array_header("'>i8'", shape);
  for (const Index number : numbers) append_element(bytes, number, true);
  return bytes;
}
std::string real_array(const std::vector<double>& numbers, std::vector<Index> shape = {}) {
  if (shape.empty()) shape = {std::ssize(numbers)};
  std::string bytes = array_header("'<f8'", shape);
  for (const double number : numbers) append_element(bytes, number, false);
  return bytes;
}
std::string text_array(const std::string& text) {
  return array_header(fmt::format("'|S{}'", text.size()), {}) + text;
}

using Arrays = std::vector<std::pair<std::string, std::string>>;

class ArrayTensor : public testing::Test {
 protected:
  std::filesystem::path archive(const Arrays& arrays) {
    OutputFile out(folder_ / "x.npz");
    ZipWriter zip(out);
    for (const auto& [name, bytes] : arrays) zip.add(name + ".npy", bytes, "");
    zip.finish();
    out.commit();
    return folder_ / "x.npz";
  }

  test::TemporaryFolder folder_;
  std::mt19937 random_{7};
  Index draw(Index below) { return Index(random_() % std::uint64_t(below)); }
};

// One dtype: its letters, and the bytes of a number.
struct Dtype {
  std::string letters;
  std::function<void(std::string&, int number, bool big_endian)> append;
  bool is_signed = true, is_truth = false;
};

template <class Number>
Dtype dtype(const std::string& letters) {
  return {letters, [](std::string& to, int number, bool big) { append_element(to, Number(number), big); },
          std::is_signed_v<Number>};
}

const std::vector<Dtype> dtypes{
    dtype<std::int8_t>("i1"),
    dtype<std::int16_t>("i2"),
    dtype<std::int32_t>("i4"),
    dtype<std::int64_t>("i8"),
    dtype<std::uint8_t>("u1"),
    dtype<std::uint16_t>("u2"),
    dtype<std::uint32_t>("u4"),
    dtype<std::uint64_t>("u8"),
    dtype<float>("f4"),
    dtype<double>("f8"),
    {"b1", [](std::string& to, int number, bool) { to += char(number != 0 ? 1 : 0); }, true, true}};

TEST_F(ArrayTensor, dense_arrays_of_any_kind_shape_and_order_are_their_nonzeros) {
  for (int round = 0; round < 300; ++round) {
    const auto& type = dtypes[std::size_t(round) % dtypes.size()];
    const bool by_columns = draw(2) == 0, big_endian = draw(2) == 0;
    std::vector<Index> shape(std::size_t(2 + draw(4)));
    Index size = 1;
    for (auto& extent : shape) size *= extent = 1 + draw(5);
    const std::string mark = type.letters[1] == '1' ? "|" : big_endian ? ">" : "<";
    std::string bytes = array_header("'" + mark + type.letters + "'", shape, by_columns);
    Cells expected;
    for (Index place = 0; place < size; ++place) {
      const int number = draw(2) == 0 ? 0 : int(draw(100)) - (type.is_signed ? 50 : 0);
      type.append(bytes, number, big_endian);
      Cell at(shape.size());
      Index rest = place;
      for (std::size_t k = 0; k < shape.size(); ++k) {
        const auto m = by_columns ? k : shape.size() - 1 - k;
        at[m] = rest % shape[m];
        rest /= shape[m];
      }
      if (number != 0) expected[at] = type.is_truth ? 1 : number;
    }
    expect_reads(folder_.write("x.npy", bytes), shape, expected,
                 fmt::format("{} {} {}", type.letters, by_columns, fmt::join(shape, "x")));
  }
}

TEST_F(ArrayTensor, halves_have_all_their_values) {
  // 1, -2, the largest, the smallest normal and subnormal numbers, 1/3 rounded; then NaN and zeros.
  const std::vector<std::uint16_t> halves{0x3C00, 0xC000, 0x7BFF, 0x0400, 0x0001, 0x3555, 0x7E00, 0x8000};
  std::string bytes = array_header("'<f2'", {2, 4});
  for (const auto half : halves) append_element(bytes, half, false);
  const Cells expected{{{0, 0}, 1},
                       {{0, 1}, -2},
                       {{0, 2}, 65504},
                       {{0, 3}, std::ldexp(1, -14)},
                       {{1, 0}, std::ldexp(1, -24)},
                       {{1, 1}, 0.333251953125}};
  expect_reads(folder_.write("x.npy", bytes), {2, 4}, expected, "halves");
}

TEST_F(ArrayTensor, missing_cells_are_left_out_and_infinite_ones_refused) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  expect_reads(folder_.write("x.npy", real_array({nan, 2, 0, -nan}, {2, 2})), {2, 2}, {{{0, 1}, 2}}, "nan");
  expect_reads(folder_.write("x.npy", real_array({nan, 0, 0, nan}, {2, 2})), {2, 2}, {}, "none");
  expect_fault(folder_.write("x.npy", real_array({1, 2, 0, -infinity}, {2, 2})),
               "has the value '-inf' at [1, 1], which is not finite");
}

TEST_F(ArrayTensor, coordinates_of_a_model_are_all_cells_but_the_missing_ones) {
  const IndexSpace space({2, 2}, {}, IndexSpace::Unknown::fault);
  ReadOptions options;
  options.space = &space;
  const auto slab = read_slab(folder_.write("x.npy", real_array({1, std::nan(""), 0, 2}, {2, 2})), options);
  EXPECT_EQ(slab.values, (Array<double>{1, 0, 2}));
}

TEST_F(ArrayTensor, arrays_that_are_no_tensors_are_refused) {
  const auto array = [&](const std::string& descr, const std::vector<Index>& shape, std::size_t bytes) {
    return folder_.write("x.npy", array_header(descr, shape) + std::string(bytes, '\0'));
  };
  expect_fault(array("'<f8'", {3}, 24), "a tensor of order 1: Polyad takes orders 2 to 16");
  expect_fault(array("'<f8'", {}, 8), "a tensor of order 0: Polyad takes orders 2 to 16");
  expect_fault(array("'<f8'", {2, 0}, 0), "dimension 2 is 0: not from 1 to 2^63 - 1");
  expect_fault(array("'<f8'", {2, 2}, 31), "has 31 bytes of numbers, expected 32 for the shape (2, 2)");
  expect_fault(array("'|O'", {2, 2}, 32),
               "holds Python objects (a pickle), which only Python reads; write an array of numbers");
  const std::string expected =
      "; expected truth values (b1), whole numbers (i and u of 1 to 8 bytes) or real ones (f2, f4, f8)";
  expect_fault(array("'<c16'", {2, 2}, 64), "has dtype '<c16'" + expected);
  expect_fault(array("'<f16'", {2, 2}, 64), "has dtype '<f16'" + expected);
  expect_fault(array("'<M8[ns]'", {2, 2}, 32), "has dtype '<M8[ns]'" + expected);
  expect_fault(array("[('a', '<f8')]", {2, 2}, 32), "has dtype '[('a', '<f8')]'" + expected);
}

TEST_F(ArrayTensor, sparse_arrays_of_any_order_are_read_from_coordinates) {
  for (int round = 0; round < 60; ++round) {
    std::vector<Index> shape(std::size_t(2 + draw(4)));
    for (auto& extent : shape) extent = 1 + draw(5);
    const Index count = draw(20);
    std::vector<std::vector<Index>> columns(shape.size());
    std::vector<double> values;
    Cells expected;
    for (Index z = 0; z < count; ++z) {
      Cell at;
      for (std::size_t m = 0; m < shape.size(); ++m) columns[m].push_back(at.emplace_back(draw(shape[m])));
      expected[at] += values.emplace_back(double(1 + draw(9)));
    }
    const bool by_columns = draw(2) == 0;
    std::string coords = array_header("'<u2'", {std::ssize(shape), count}, by_columns);
    const auto append = [&](std::size_t m, std::size_t z) {
      append_element(coords, std::uint16_t(columns[m][z]), false);
    };
    if (by_columns)
      for (std::size_t z = 0; z < values.size(); ++z)
        for (std::size_t m = 0; m < shape.size(); ++m) append(m, z);
    else
      for (std::size_t m = 0; m < shape.size(); ++m)
        for (std::size_t z = 0; z < values.size(); ++z) append(m, z);
    Arrays arrays{{"shape", index_array(shape)}, {"data", real_array(values)}, {"coords", coords}};
    if (draw(2) == 0) arrays.emplace_back("format", text_array("coo"));
    if (draw(2) == 0) arrays.emplace_back("fill_value", real_array({draw(2) == 0 ? 0 : std::nan("")}));
    expect_reads(archive(arrays), shape, expected, fmt::format("{}", fmt::join(shape, "x")));
  }
}

// A random array as rows and columns that are several modes each, and its archive.
struct Compressed {
  std::vector<Index> shape, row_modes;
  Arrays arrays;
  Cells cells;
};

Compressed random_compressed(const std::function<Index(Index)>& draw) {
  Compressed c;
  c.shape.resize(std::size_t(2 + draw(3)));
  for (auto& extent : c.shape) extent = 1 + draw(4);
  for (Index m = 0; m < std::ssize(c.shape); ++m)
    if (draw(2) == 0) c.row_modes.push_back(m);
  if (c.row_modes.empty()) c.row_modes.push_back(0);
  std::vector<Index> column_modes;
  Index num_rows = 1, num_columns = 1;
  for (Index m = 0; m < std::ssize(c.shape); ++m) {
    const bool is_row = std::ranges::count(c.row_modes, m) > 0;
    (is_row ? num_rows : num_columns) *= c.shape[std::size_t(m)];
    if (!is_row) column_modes.push_back(m);
  }
  std::vector<Index> pointers{0}, indices;
  std::vector<double> values;
  const auto place = [&](Cell& at, const std::vector<Index>& modes, Index position) {
    for (auto m = modes.rbegin(); m != modes.rend(); ++m) {
      at[std::size_t(*m)] = position % c.shape[std::size_t(*m)];
      position /= c.shape[std::size_t(*m)];
    }
  };
  for (Index row = 0; row < num_rows; ++row) {
    for (Index k = draw(4); k > 0; --k) {
      indices.push_back(draw(num_columns));
      values.push_back(double(1 + draw(9)));
      Cell at(c.shape.size());
      place(at, c.row_modes, row);
      place(at, column_modes, indices.back());
      c.cells[at] += values.back();
    }
    pointers.push_back(std::ssize(indices));
  }
  // SciPy also writes what lies behind the last row, and ignores it.
  for (Index k = draw(3); k > 0; --k) {
    indices.push_back(99);
    values.push_back(99);
  }
  c.arrays = {{"shape", index_array(c.shape)},
              {"data", real_array(values)},
              {"indices", index_array(indices)},
              {"indptr", index_array(pointers)}};
  return c;
}

TEST_F(ArrayTensor, compressed_matrices_and_arrays_are_read) {
  for (int round = 0; round < 100; ++round) {
    auto c = random_compressed([&](Index below) { return draw(below); });
    const bool is_matrix = c.shape.size() == 2 && c.row_modes.size() == 1;
    if (is_matrix) {
      c.arrays.emplace_back("format", text_array(c.row_modes[0] == 0 ? "csr" : "csc"));
    } else {
      c.arrays.emplace_back("compressed_axes", index_array(c.row_modes));
      c.arrays.emplace_back("fill_value", index_array({0}));
    }
    expect_reads(archive(c.arrays), c.shape, c.cells, fmt::format("{}", fmt::join(c.shape, "x")));
  }
}

TEST_F(ArrayTensor, blocks_and_diagonals_are_read_without_the_zeros_that_fill_them_up) {
  expect_reads(
      archive({{"format", text_array("bsr")},
               {"shape", index_array({4, 6})},
               {"indptr", index_array({0, 1, 3})},
               {"indices", index_array({1, 0, 1})},
               {"data", real_array({1, 0, 2, 3, 4, 5, 6, 0, 0, 0, 0, 7, 8, 0, 0, 9, 0, 0}, {3, 2, 3})}}),
      {4, 6},
      {{{0, 3}, 1},
       {{0, 5}, 2},
       {{1, 3}, 3},
       {{1, 4}, 4},
       {{1, 5}, 5},
       {{2, 0}, 6},
       {{3, 2}, 7},
       {{2, 3}, 8},
       {{3, 3}, 9}},
      "bsr");
  expect_reads(archive({{"format", text_array("dia")},
                        {"shape", index_array({3, 4})},
                        {"offsets", index_array({0, -1, 2})},
                        {"data", real_array({1, 2, 3, 99, 4, 0, 99, 99, 99, 99, 5, 6}, {3, 4})}}),
               {3, 4}, {{{0, 0}, 1}, {{1, 1}, 2}, {{2, 2}, 3}, {{1, 0}, 4}, {{0, 2}, 5}, {{1, 3}, 6}}, "dia");
}

TEST_F(ArrayTensor, matrices_without_nonzeros_are_matrices) {
  expect_reads(archive({{"format", text_array("csr")},
                        {"shape", index_array({2, 3})},
                        {"indptr", index_array({0, 0, 0})},
                        {"indices", index_array({}, {0})},
                        {"data", real_array({}, {0})}}),
               {2, 3}, {}, "csr");
}

TEST_F(ArrayTensor, faults_of_sparse_archives_are_named) {
  const Arrays coo{{"shape", index_array({2, 3})},
                   {"format", text_array("coo")},
                   {"data", real_array({1, 2})},
                   {"row", index_array({0, 1})},
                   {"col", index_array({0, 2})}};
  expect_reads(archive(coo), {2, 3}, {{{0, 0}, 1}, {{1, 2}, 2}}, "coo");
  const auto expect = [&](Arrays arrays, const Arrays& changes, const std::string& why) {
    for (const auto& [name, bytes] : changes)
      for (auto& array : arrays)
        if (array.first == name) array.second = bytes;
    expect_fault(archive(arrays), why);
  };
  expect(coo, {{"col", index_array({0, 3})}},
         "nonzero 2: index 3 (from 0) of mode 2 is outside of the dimension 3");
  expect(coo, {{"row", index_array({-1, 0})}},
         "nonzero 1: index -1 (from 0) of mode 1 is outside of the dimension 2");
  expect(coo, {{"row", real_array({0, std::nan("")})}}, "row has dtype f8, expected whole numbers");
  expect(coo, {{"row", index_array({0})}}, "row has indices of 1 nonzero, data has 2 values");
  expect(coo, {{"data", real_array({1, std::nan("")})}}, "nonzero 2: value 'nan' is not finite");
  expect(coo, {{"data", real_array({1, 2}, {1, 2})}}, "data has 2 dimensions, expected 1");
  expect(coo, {{"data", array_header("'|O'", {2}) + "pickled"}},
         "data holds Python objects (a pickle), which only Python reads; write an array of numbers");
  expect(coo, {{"data", array_header("'<f8'", {2}) + "short"}},
         "data has 5 bytes of numbers, expected 16 for the shape (2)");
  expect(coo, {{"shape", index_array({2})}}, "a tensor of order 1: Polyad takes orders 2 to 16");
  expect(coo, {{"shape", index_array({2, 0})}}, "dimension 2 is 0: not from 1 to 2^63 - 1");
  expect(coo, {{"shape", index_array({2, 3, 4})}}, "the array coords of a sparse array is missing");
  expect(coo, {{"format", text_array("lil")}},
         "has the format 'lil'; expected coo, csr, csc, bsr, dia or gcxs");
  expect(coo, {{"format", text_array("csr")}}, "the array indices of a sparse matrix or array is missing");

  const Arrays csr{{"shape", index_array({2, 3})},   {"format", text_array("csr")},
                   {"data", real_array({1, 2})},     {"indptr", index_array({0, 1, 2})},
                   {"indices", index_array({0, 2})}, {"fill_value", real_array({0})}};
  expect(csr, {{"indptr", index_array({0, 2})}},
         "indptr has 2 numbers, expected 3, one more than the shape has rows or columns");
  expect(csr, {{"indptr", index_array({0, 2, 1})}}, "indptr has 1 at [2], expected a number from 2 to 2");
  expect(csr, {{"indptr", index_array({1, 1, 2})}}, "indptr has 1 at [0], expected a number from 0 to 0");
  expect(csr, {{"indptr", index_array({0, 1, 3})}}, "indptr has 3 at [2], expected a number from 1 to 2");
  expect(csr, {{"fill_value", real_array({1})}},
         "fill_value is 1: all cells that are not stored have this value; expected 0");
  auto truncated = test::contents(archive(csr));
  truncated.resize(truncated.size() - 30);
  expect_fault(folder_.write("x.npz", truncated),
               "is a truncated zip archive: the directory at its end is missing");
}

}  // namespace
}  // namespace polyad::io
