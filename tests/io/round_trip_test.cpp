#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>

#include "polyad/base/error.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

using Tensor = SparseTensor<double>;

// The same coordinates, and values that are the same to the bit (0 and -0 differ).
void expect_identical(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.order(), b.order()) << what;
  ASSERT_EQ(a.num_nonzeros(), b.num_nonzeros()) << what;
  for (int m = 0; m < a.order(); ++m) EXPECT_TRUE(std::ranges::equal(a.indices(m), b.indices(m))) << what;
  for (Index z = 0; z < a.num_nonzeros(); ++z)
    ASSERT_EQ(std::bit_cast<std::uint64_t>(a.values()[z]), std::bit_cast<std::uint64_t>(b.values()[z]))
        << what;
}

struct Way {
  std::string name;
  TensorFormat format;
  bool compress = false;
};

const std::vector<Way> ways{{"x.tns", TensorFormat::tns},           {"x.tns.gz", TensorFormat::tns},
                            {"x.hi", TensorFormat::hiparti},        {"x.ext", TensorFormat::frostt},
                            {"x.sptensor", TensorFormat::sptensor}, {"x.csv", TensorFormat::csv},
                            {"x.csv.gz", TensorFormat::csv},        {"x.bin", TensorFormat::splatt},
                            {"x.sptn", TensorFormat::genten},       {"x.ptb", TensorFormat::ptb},
                            {"y.ptb", TensorFormat::ptb, true},     {"x.mtx", TensorFormat::matrix_market},
                            {"x.libmf", TensorFormat::libmf}};

bool holds_only_matrices(TensorFormat format) {
  return format == TensorFormat::matrix_market || format == TensorFormat::libmf;
}

// csv and libmf state no dims, and hold tensors whose dims are those of the largest indices.
Tensor with_least_dims(const Tensor& x) {
  std::vector<Index> dims;
  for (int m = 0; m < x.order(); ++m) dims.push_back(std::ranges::max(x.indices(m)) + 1);
  Tensor least(dims);
  std::vector<Index> coordinates(dims.size());
  for (Index z = 0; z < x.num_nonzeros(); ++z) {
    for (int m = 0; m < x.order(); ++m) coordinates[m] = x.indices(m)[z];
    least.append(coordinates, x.values()[z]);
  }
  return least;
}

bool states_dims(TensorFormat format) {
  return format != TensorFormat::csv && format != TensorFormat::libmf;
}

void expect_round_trips(const Tensor& x) {
  const test::TemporaryFolder folder;
  for (const auto& way : ways) {
    if (holds_only_matrices(way.format) && x.order() != 2) continue;
    write_tensor(folder / way.name, states_dims(way.format) ? x : with_least_dims(x), {},
                 {way.format, way.compress});
    ReadOptions options{.dims = x.extents()};
    if (way.format == TensorFormat::libmf) options.format = TensorFormat::libmf;
    const auto back = read_tensor(folder / way.name, options);
    EXPECT_EQ(back.format, way.format);
    expect_identical(back.tensor, x, way.name);
  }
}

TEST(RoundTrip, every_format_gives_back_identical_coordinates_and_bits) {
  std::uint64_t seed = 1;
  for (const auto& shape : test::odd_shapes())
    for (const Index n : {1, 2, 200}) expect_round_trips(test::random_tensor(shape, n, ++seed));
}

TEST(RoundTrip, extreme_values_and_order_16_survive) {
  Tensor x(std::vector<Index>(16, 3));
  for (const double value :
       {1e-320, -0.0, 0.0, 1.7976931348623157e308, 0.1, 1e-8, -1.0 / 3, 123456789.123456789}) {
    x.append(std::vector<Index>(16, x.num_nonzeros() % 3), value);
  }
  expect_round_trips(x);
}

TEST(RoundTrip, dims_beyond_the_maxima_survive_where_the_format_states_them) {
  const test::TemporaryFolder folder;
  Tensor x({5, 6, 7});
  x.append(std::vector<Index>{1, 2, 3}, 4);
  for (const auto& way : ways) {
    if (holds_only_matrices(way.format) || way.format == TensorFormat::csv) continue;
    write_tensor(folder / way.name, x, {}, {way.format, way.compress});
    EXPECT_EQ(read_tensor(folder / way.name).tensor, x) << way.name;
    write_tensor(folder / way.name, Tensor({5, 6, 7}), {}, {way.format, way.compress});
    if (way.format == TensorFormat::hiparti) continue;  // it does not say that there are none
    EXPECT_EQ(read_tensor(folder / way.name).tensor, Tensor({5, 6, 7})) << way.name;
  }
}

TEST(RoundTrip, formats_that_do_not_state_the_dims_lose_none) {
  const test::TemporaryFolder folder;
  Tensor x({3, 4});
  x.append(std::vector<Index>{1, 3}, 4);
  for (const auto format : {TensorFormat::csv, TensorFormat::libmf})
    EXPECT_THROW(write_tensor(folder / "x", x, {}, {format}), Error);
  x.append(std::vector<Index>{2, 0}, 1);
  write_tensor(folder / "x.csv", x, {});
  EXPECT_EQ(read_tensor(folder / "x.csv").tensor, x);
  const std::vector<ModeLabels> labels{{"who", {"a", "b", "c"}}, {}};
  EXPECT_THROW(write_tensor(folder / "y.csv", x, labels), Error) << "no line would name a";
}

TEST(RoundTrip, labels_survive_in_ptb_and_csv) {
  const test::TemporaryFolder folder;
  Tensor x({2, 3});
  x.append(std::vector<Index>{0, 0}, 1);
  x.append(std::vector<Index>{1, 1}, 2);
  x.append(std::vector<Index>{1, 2}, 3);
  const std::vector<ModeLabels> labels{{"who", {"Ann, the first", "Bob \"B\""}},
                                       {"where", {"a", "b c", "d"}}};
  write_tensor(folder / "x.ptb", x, labels);
  write_tensor(folder / "x.csv", x, labels);

  EXPECT_EQ(read_tensor(folder / "x.ptb").labels, labels);
  ReadOptions options;
  options.columns = parse_columns("who,where,value", "");
  const auto csv = read_tensor(folder / "x.csv", options);
  EXPECT_EQ(csv.labels, labels);
  EXPECT_EQ(csv.tensor, x);
}

TEST(RoundTrip, a_ptb_stores_single_precision_where_nothing_is_lost) {
  const test::TemporaryFolder folder;
  Tensor counts({1000, 1000, 1000}), reals({1000, 1000, 1000});
  for (Index i = 0; i < 1000; ++i) {
    counts.append(std::vector<Index>{i, i, i}, double(i));
    reals.append(std::vector<Index>{i, i, i}, 0.1 * double(i));
  }
  write_tensor(folder / "c.ptb", counts, {});
  write_tensor(folder / "r.ptb", reals, {});

  EXPECT_EQ(std::filesystem::file_size(folder / "r.ptb") - std::filesystem::file_size(folder / "c.ptb"),
            4000);
}

// No damage may pass unnoticed or do harm: every byte of the file counts.
TEST(RoundTrip, every_flipped_bit_and_every_cut_of_a_ptb_is_refused) {
  const test::TemporaryFolder folder;
  for (const bool compress : {false, true}) {
    const std::vector<ModeLabels> labels{{"a", {"x", "y", "z"}}, {"b", {}}, {"c", {}}};
    write_tensor(folder / "x.ptb", test::random_tensor({3, 400, 70000}, 40, 9), labels, {{}, compress});
    const std::string good = test::contents(folder / "x.ptb");
    for (std::size_t at = 4; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = char(bad[at] ^ (1 << (at % 8)));
      EXPECT_THROW(read_tensor(folder.write("bad.ptb", bad)), Error) << "byte " << at;
    }
    for (std::size_t keep = 4; keep < good.size(); keep += 3)
      EXPECT_THROW(read_tensor(folder.write("cut.ptb", good.substr(0, keep))), Error) << "first " << keep;
  }
}

// Files of before version 2 of the format, which has other checksums.
class OlderPtb : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("POLYAD_TEST_DATA");
    if (folder == nullptr) GTEST_SKIP() << "POLYAD_TEST_DATA does not name tests/data";
    data_ = std::filesystem::path(folder) / "ptb";
  }

  std::filesystem::path data_;
  test::TemporaryFolder folder_;
};

TEST_F(OlderPtb, is_read_with_its_labels) {
  Tensor x({3, 3, 3});
  x.append(std::vector<Index>{0, 0, 0}, 1.5);
  x.append(std::vector<Index>{1, 1, 1}, -2);
  x.append(std::vector<Index>{1, 2, 0}, 0.1);
  x.append(std::vector<Index>{2, 0, 2}, 3);

  const auto read = read_tensor(data_ / "version_1.ptb");

  EXPECT_EQ(read.tensor, x);
  const std::vector<ModeLabels> labels{
      {"who", {"Ann", "Bob", "Éva"}}, {"where", {"a", "b c", "d"}}, {"when", {"1", "2", "3"}}};
  EXPECT_EQ(read.labels, labels);
  EXPECT_EQ(read_tensor(data_ / "version_1_compressed.ptb").tensor,
            read_tensor(data_ / "version_1_compressed.tns").tensor);
}

TEST_F(OlderPtb, is_refused_where_it_is_damaged) {
  for (const auto* name : {"version_1.ptb", "version_1_compressed.ptb"}) {
    const std::string good = test::contents(data_ / name);
    for (std::size_t at = 4; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = char(bad[at] ^ (1 << (at % 8)));
      EXPECT_THROW(read_tensor(folder_.write("bad.ptb", bad)), Error) << "byte " << at;
    }
  }
}

TEST_F(OlderPtb, is_written_anew_in_version_2) {
  const auto read = read_tensor(data_ / "version_1.ptb");
  write_tensor(folder_ / "x.ptb", read.tensor, read.labels);
  std::string bytes = test::contents(folder_ / "x.ptb");
  EXPECT_EQ(test::contents(data_ / "version_1.ptb")[12], 1);
  EXPECT_EQ(bytes[12], 2);
  EXPECT_EQ(read_tensor(folder_ / "x.ptb").tensor, read.tensor);
  for (const char version : {'\0', '\3'}) {
    bytes[12] = version;
    try {
      read_tensor(folder_.write("y.ptb", bytes));
      ADD_FAILURE() << "version " << int(version) << " was read";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what())
                    .find("is version " + std::to_string(int(version)) +
                          " of the format; this program reads versions 1 to 2"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(RoundTrip, damaged_foreign_binaries_never_crash) {
  const test::TemporaryFolder folder;
  for (const auto* name : {"x.bin", "x.sptn"}) {
    write_tensor(folder / name, test::random_tensor({3, 400, 70000}, 40, 9), {});
    const std::string good = test::contents(folder / name);
    for (std::size_t at = 0; at < good.size(); ++at)
      for (const int bit : {0, 3, 7}) {
        std::string bad = good;
        bad[at] = char(bad[at] ^ (1 << bit));
        try {
          read_tensor(folder.write("bad", bad));
        } catch (const Error& e) {
          EXPECT_NE(e.code(), Errc::internal) << e.what();
        }
      }
    for (std::size_t keep = 4; keep < good.size(); ++keep)
      EXPECT_THROW(read_tensor(folder.write("cut", good.substr(0, keep))), Error) << keep;
    EXPECT_THROW(read_tensor(folder.write("long", good + "x")), Error);
  }
}

TEST(RoundTrip, a_format_that_cannot_hold_the_tensor_says_so) {
  const test::TemporaryFolder folder;
  const Tensor x({2, 2, 2});
  const auto fault = [&](const std::string& name, const WriteOptions& options = {}) {
    try {
      write_tensor(folder / name, x, {}, options);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::bad_option);
      return std::string(e.what()).substr((folder / "").string().size());
    }
    return std::string("no error");
  };
  EXPECT_EQ(fault("x.mtx"), "x.mtx: mtx holds tensors of order 2, this one has order 3");
  EXPECT_EQ(fault("x.ptb.gz"), "x.ptb.gz: ptb is not written through gzip; compress compresses it by itself");
  EXPECT_EQ(fault("x.tns", {{}, true}),
            "x.tns: compress is for ptb; end a text's name in .gz to compress it");
  EXPECT_EQ(fault("x.xyz"),
            "x.xyz: its extension names no format; known are .tns, .sptensor, .mtx, .csv, .bin, .sptn, .ptb");
  EXPECT_EQ(fault("x", {TensorFormat::dense_tensor}), "x: tensor is only read, not written");
  EXPECT_FALSE(std::filesystem::exists(folder / "x.mtx"));
  for (const auto& names : std::vector<std::vector<std::string>>{{"a", "a"}, {"a", ""}, {"a"}}) {
    const std::vector<ModeLabels> labels{{"m", names}, {}, {}};
    EXPECT_THROW(write_tensor(folder / "x.csv", x, labels), Error);
    write_tensor(folder / "x.ptb", x, labels);
    EXPECT_EQ(read_tensor(folder / "x.ptb").labels, labels);
  }
}

}  // namespace
}  // namespace polyad::io
