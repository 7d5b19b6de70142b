#include "polyad/io/tensors/read_tensor.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <limits>
#include <optional>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

using Tensor = SparseTensor<double>;

struct Entry {
  std::vector<Index> at;
  double value;
};

Tensor tensor(std::vector<Index> dims, const std::vector<Entry>& entries) {
  Tensor x(std::move(dims));
  for (const auto& entry : entries) x.append(entry.at, entry.value);
  return x;
}

class ReadTensor : public testing::Test {
 protected:
  LoadedTensor read(const std::string& text, const ReadOptions& options = {}) {
    return read_tensor(folder_.write("x", text), options);
  }
  // The sentence of the error, without the folder.
  std::string fault(const std::string& text, const ReadOptions& options = {}) {
    try {
      read(text, options);
    } catch (const Error& e) {
      std::string what = e.what();
      const std::string prefix = (folder_ / "").string();
      return what.starts_with(prefix) ? what.substr(prefix.size()) : what;
    }
    return "no error";
  }

  test::TemporaryFolder folder_;
};

const Tensor small = tensor({2, 3, 4}, {{{0, 0, 0}, 1}, {{1, 2, 3}, -2.5}, {{0, 1, 2}, 1e-300}});

TEST_F(ReadTensor, plain_lines_in_any_layout) {
  EXPECT_EQ(read("1 1 1 1\n2 3 4 -2.5\n1 2 3 1e-300\n").tensor, small);
  EXPECT_EQ(read("# a comment\n\n  1\t1 1  1 \r\n2 3 4 -2.5\r\n# in between\n1 2 3 1e-300").tensor, small);
  EXPECT_EQ(read("1.0 1 1 1\n2 3.0 4 -2.5\n1 2 3e0 1e-300\n").tensor, small);
}

TEST_F(ReadTensor, every_dialect_is_recognised_by_its_head) {
  const std::string lines = "1 1 1 1\n2 3 4 -2.5\n1 2 3 1e-300\n",
                    zero_based = "0 0 0 1\n1 2 3 -2.5\n0 1 2 1e-300\n";
  EXPECT_EQ(read("3\n2 3 4\n" + lines).format, TensorFormat::hiparti);
  EXPECT_EQ(read("3\n2 3 4\n" + lines).tensor, small);
  EXPECT_EQ(read("# c\n3 3\n2 3 4\n" + lines).format, TensorFormat::frostt);
  EXPECT_EQ(read("# c\n3 3\n2 3 4\n" + lines).tensor, small);
  EXPECT_EQ(read("sptensor\n3\n2 3 4\n3\n" + lines).tensor, small);
  EXPECT_EQ(read("// by GenTen\nsptensor\n3\n2 3 4\n3\n" + zero_based).tensor, small);
  EXPECT_EQ(read("sptensor\n3 \n2 3 4 \n0\n").tensor, Tensor({2, 3, 4}));
}

TEST_F(ReadTensor, one_index_0_means_that_every_mode_counts_from_0) {
  const auto loaded = read("1 1 0 1\n2 3 4 -2.5\n");

  EXPECT_EQ(loaded.tensor, tensor({3, 4, 5}, {{{1, 1, 0}, 1}, {{2, 3, 4}, -2.5}}));
  ASSERT_EQ(loaded.notes.size(), 1);
  EXPECT_EQ(loaded.notes[0], "an index 0 occurs, so indices are taken to count from 0 in every mode");
  EXPECT_EQ(read("1 1 1 1\n", {.index_base = 0}).tensor, tensor({2, 2, 2}, {{{1, 1, 1}, 1}}));
  EXPECT_EQ(fault("1 1 1 1\n1 0 1 1\n", {.index_base = 1}),
            "x:2: index '0' of mode 2 is below 1, where the indices start");
}

TEST_F(ReadTensor, dims_come_from_the_option_the_header_the_note_or_the_maxima) {
  EXPECT_EQ(read("1 1 1\n2 3 4\n", {.dims = {5, 6}}).tensor.extents(), (std::vector<Index>{5, 6}));
  EXPECT_EQ(read("# dims: 7 8\n1 1 1\n").tensor.extents(), (std::vector<Index>{7, 8}));
  EXPECT_EQ(read("# dims: 1 1\n# nnz: 3\n1 9 1\n").tensor.extents(), (std::vector<Index>{1, 9}));
  EXPECT_EQ(read("# dims: 1 1\n# nnz: 3\n1 9 1\n").notes.size(), 2);
  EXPECT_EQ(read("# dims: 4 4 4\n# nnz: 0\n").tensor, Tensor({4, 4, 4}));
  EXPECT_EQ(fault("1 1 1\n", {.dims = {5, 6, 7}}), "x: dims states 3 dimensions, the tensor has 2");
  EXPECT_EQ(fault("1 1 1\n2 7 4\n", {.dims = {5, 6}}),
            "x:2: index '7' of mode 2 is beyond the dimension 6 that dims states");
  // Only the last line shows that the file counts from 0, which makes the 6 one too many.
  EXPECT_EQ(fault("1 6 1\n0 1 1\n", {.dims = {5, 6}}),
            "x:1: index '6' of mode 2 is beyond the dimension 6 that dims states (the indices start at 0)");
}

TEST_F(ReadTensor, dense_texts_keep_their_nonzeros) {
  EXPECT_EQ(read("tensor\n2\n2 3\n1\n2\n0\n4 5\n6\n").tensor,
            tensor({2, 3}, {{{0, 0}, 1}, {{1, 0}, 2}, {{1, 1}, 4}, {{0, 2}, 5}, {{1, 2}, 6}}));
  EXPECT_EQ(read("matrix\n2\n2 3\n1 2 0\n4 5 6\n").tensor,
            tensor({2, 3}, {{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 4}, {{1, 1}, 5}, {{1, 2}, 6}}));
  EXPECT_EQ(fault("tensor\n2\n2 2\n1 2 3\n"), "x: the header announces 4 values, the file has 3");
  EXPECT_EQ(fault("tensor\n2\n2 2\n1 2 3\n4 5\n"), "x:5: the header announces 4 values, here is one more");
  EXPECT_EQ(fault("tensor\n2\n2 2\n1 2 x\n"), "x:4: value 'x' is not a number");
  EXPECT_EQ(fault("matrix\n2\n4 2 1\n1\n"), "x:3: expected 2 dimensions, as the order says, found 3");
}

TEST_F(ReadTensor, matrix_market_general_symmetric_and_pattern) {
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n% c\n2 3 2\n1 1 0.5\n2 3 -1\n").tensor,
            tensor({2, 3}, {{{0, 0}, 0.5}, {{1, 2}, -1}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n1 1 4\n3 1 5\n").tensor,
            tensor({3, 3}, {{{0, 0}, 4}, {{2, 0}, 5}, {{0, 2}, 5}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n").tensor,
            tensor({2, 2}, {{{0, 1}, 1}, {{1, 0}, 1}}));
  EXPECT_EQ(fault("%%MatrixMarket matrix array real general\n2 2\n1\n"),
            "x:1: MatrixMarket 'array' is not read: only coordinate is");
  EXPECT_EQ(fault("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n"),
            "x:1: MatrixMarket field 'complex' is not read: only real, integer and pattern are");
  EXPECT_EQ(fault("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n"),
            "x: the header announces 2 nonzeros, the file has 1");
}

TEST_F(ReadTensor, the_largest_indices_are_where_they_can_still_be_counted) {
  const Index most = std::numeric_limits<Index>::max() - 1;
  EXPECT_EQ(read("9223372036854775806 1 1\n").tensor.extents(), (std::vector<Index>{most, 1}));
  EXPECT_EQ(read("9223372036854775806 0 1\n").tensor.extents(), (std::vector<Index>{most + 1, 1}));
  for (const auto base : {std::optional<int>(), std::optional(0), std::optional(1)})
    EXPECT_EQ(fault("1 1 1\n9223372036854775807 1 1\n", {.index_base = base}),
              "x:2: index '9223372036854775807' of mode 1 is beyond 2^63 - 2");
}

TEST_F(ReadTensor, a_byte_order_mark_is_passed_over) {
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "1 1 1 1\n2 3 4 -2.5\n1 2 3 1e-300\n")
                .tensor,
            small);
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "userId,movieId,rating\n1,2,3\n")
                .tensor.num_nonzeros(),
            1);
}

TEST_F(ReadTensor, no_nonzeros_are_a_tensor_when_the_dims_are_known) {
  EXPECT_EQ(read("3\n2 3 4\n").tensor, Tensor({2, 3, 4}));
  EXPECT_EQ(read("# dims: 3 4\n# nnz: 0\n", {.format = TensorFormat::tns}).tensor, Tensor({3, 4}));
  EXPECT_EQ(fault("3 1\n2 3 4\n"), "x: the header announces 1 nonzero, the file has 0");
}

TEST_F(ReadTensor, binaries_refuse_options_that_contradict_them) {
  write_tensor(folder_ / "x.ptb", small, {});
  const std::string bytes = test::contents(folder_ / "x.ptb");
  EXPECT_EQ(fault(bytes, {.index_base = 1}), "x: the format ptb counts from 0, index_base says 1");
  EXPECT_EQ(fault(bytes, {.dims = {2, 2, 4}}), "x: the header states 2x3x4, dims 2x2x4 is smaller");
}

TEST_F(ReadTensor, libmf_counts_from_0_when_it_is_named) {
  EXPECT_EQ(read("1 2 3.5\n", {.format = TensorFormat::libmf}).tensor, tensor({2, 3}, {{{1, 2}, 3.5}}));
}

TEST_F(ReadTensor, faults_name_their_line_on_any_number_of_threads) {
  std::string lines;
  for (int i = 1; i <= 3000; ++i) lines += std::to_string(i) + " 1 1 1\n";
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(fault(lines + "1 2 x 1\n" + lines), "x:3001: index 'x' of mode 3 is not a whole number");
    EXPECT_EQ(fault(lines + "1 2 3\n" + lines + "1 x 3 1\n"),
              "x:3001: expected 4 fields as on line 1, found 3");
  }
}

TEST_F(ReadTensor, all_faults_are_collected_when_that_is_asked_for) {
  std::vector<Problem> problems;

  const auto loaded = read("1 1 1\n1 x 1\n2 2 nan\n2 2 2 2\n2 2 2\n", {.problems = &problems});

  EXPECT_EQ(loaded.tensor, tensor({2, 2}, {{{0, 0}, 1}, {{1, 1}, 2}}));
  EXPECT_EQ(problems,
            (std::vector<Problem>{{2, "index 'x' of mode 2 is not a whole number"},
                                  {3, "value 'nan' is not finite"},
                                  {4, "expected 3 fields as on line 1, found 4: '2' after the value"}}));
}

TEST_F(ReadTensor, a_binary_inside_gzip_is_refused) {
  write_tensor(folder_ / "x.bin", small, {});
  OutputFile out(folder_ / "x.bin.gz", OutputFile::Compression::gzip);
  out.write(test::contents(folder_ / "x.bin"));
  out.commit();

  try {
    read_tensor(folder_ / "x.bin.gz");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()),
              (folder_ / "x.bin.gz").string() + ": holds a binary inside gzip: uncompress it first");
  }
}

TEST_F(ReadTensor, shares_put_together_are_the_whole_in_every_format) {
  const auto whole = test::random_tensor({300, 40, 500}, 2000, 3);
  for (const auto* name : {"x.tns", "x.tns.gz", "x.sptensor", "x.bin", "x.sptn", "x.ptb", "x.csv"}) {
    write_tensor(folder_ / name, whole, {});
    for (const int parts : {1, 2, 3, 7, 4000}) {
      if (parts > 7 && std::string(name) != "x.tns") continue;
      Tensor together(whole.extents());
      std::vector<Slab> slabs;
      SlabFacts facts;
      for (int part = 0; part < parts; ++part) {
        slabs.push_back(read_slab(folder_ / name, {.share = {part, parts}}));
        facts = merge(facts, slabs.back().facts);
      }
      for (auto& slab : slabs) {
        const auto piece = assemble(std::move(slab), facts, {.dims = whole.extents()}).tensor;
        for (Index z = 0; z < piece.num_nonzeros(); ++z)
          together.append(std::vector<Index>{piece.indices(0)[z], piece.indices(1)[z], piece.indices(2)[z]},
                          piece.values()[z]);
      }
      ASSERT_EQ(together, whole) << name << " in " << parts;
    }
  }
}

TEST_F(ReadTensor, an_option_that_has_no_meaning_is_an_error) {
  EXPECT_EQ(fault("1::2::3::4\n", {.index_base = 1}),
            "x: index_base has no meaning for movielens-colons, whose ids are names");
  EXPECT_EQ(fault("1 1 1\n", {.format = TensorFormat::tns, .columns = CsvColumns{}}),
            "x: columns is for tables (csv); this file is tns");
  EXPECT_EQ(fault("1 1 1\n", {.format = TensorFormat::ptb}),
            "x: is a text, not ptb as LoadOptions::format says");
  EXPECT_EQ(fault("1 1 1\n", {.format = TensorFormat::sptensor}),
            "x:1: is tns, not sptensor as LoadOptions::format says");
}

}  // namespace
}  // namespace polyad::io
