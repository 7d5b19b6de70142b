#include "polyad/io/models/kruskal.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "polyad/base/error.hpp"
#include "polyad/io/arrays/npy_array.hpp"
#include "polyad/io/bytes/zip_writer.hpp"
#include "tests/support/kruskal_samples.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;
using test::contents;
using test::fault;
using test::matrix;
using test::same_bits;
using test::sample;
using test::TemporaryFolder;

constexpr KruskalFormat all_kruskal_formats[] = {KruskalFormat::splatt, KruskalFormat::ktensor,
                                                 KruskalFormat::npz};

// --- round trips ---

TEST(Kruskal, every_format_returns_the_same_bits) {
  const TemporaryFolder folder;
  for (const auto& dims : std::vector<std::vector<Index>>{{3, 4},
                                                          {1, 1},
                                                          {5, 1, 7},
                                                          {2, 3, 4, 5},
                                                          {1, 2, 1, 2, 1},
                                                          {2, 3, 2, 3, 2, 3},
                                                          std::vector<Index>(16, 2)})
    for (const Index num_components : {1, 37})
      for (const auto format : all_kruskal_formats) {
        const auto k = sample(dims, num_components);

        write_kruskal(folder / "k", k, format);

        EXPECT_TRUE(looks_like_kruskal(folder / "k"));
        EXPECT_TRUE(same_bits(read_kruskal(folder / "k"), k)) << dims.size() << ' ' << num_components;
        fs::remove_all(folder / "k");
      }
}

TEST(Kruskal, matrices_larger_than_a_block_of_rows_return_the_same_bits) {
  const TemporaryFolder folder;
  const auto k = sample({300'000, 2}, 5);
  for (const auto format : all_kruskal_formats) {
    write_kruskal(folder / "k", k, format);

    EXPECT_TRUE(same_bits(read_kruskal(folder / "k"), k));
    fs::remove_all(folder / "k");
  }
}

TEST(Kruskal, a_ktensor_may_be_compressed) {
  const TemporaryFolder folder;
  const auto k = sample({3, 4, 5}, 2);

  write_kruskal(folder / "k.ktensor.gz", k, KruskalFormat::ktensor);

  EXPECT_TRUE(contents(folder / "k.ktensor.gz").starts_with("\x1f\x8b"));
  EXPECT_TRUE(looks_like_kruskal(folder / "k.ktensor.gz"));
  EXPECT_TRUE(same_bits(read_kruskal(folder / "k.ktensor.gz"), k));
}

// --- files of others ---

TEST(Kruskal, reads_what_genten_and_pyttb_write) {
  const fs::path dialects = test::shared_data() / "dialects";
  if (!fs::exists(dialects)) GTEST_SKIP() << test::no_shared_data;

  EXPECT_EQ(read_kruskal(dialects / "genten-E_ktensor.txt"),
            (Kruskal<double>{{1, 2},
                             {matrix(2, {0.5, 0.1, 0.5, 0.9}), matrix(3, {1, 2, 3, 4, 5, 6}),
                              matrix(3, {1e-2, 4e-2, 2e-2, 5e-2, 3e-2, 6e-2})}}));
  EXPECT_EQ(read_kruskal(dialects / "pyttb-ktensor.tns"),
            (Kruskal<double>{{3, 2},
                             {matrix(4, {1, 5, 2, 6, 3, 7, 4, 8}),
                              matrix(5, {2, 7, 3, 8, 4, 9, 5, 10, 6, 11}), matrix(3, {3, 6, 4, 7, 5, 8})}}));
  for (const auto* sparse :
       {"genten-C_sptensor.txt", "hiparti-3d_7.tns", "pyttb-matrix.tns", "splatt-med.tns.gz"})
    EXPECT_FALSE(looks_like_kruskal(dialects / sparse)) << sparse;
}

TEST(Kruskal, texts_may_have_comments_blank_lines_and_blanks_at_their_ends) {
  const TemporaryFolder folder;
  const Kruskal<double> k{{3}, {matrix(2, {1, 2}), matrix(1, {-4e-3})}};

  const auto ktensor =
      folder.write("k",
                   "# a\r\n// b\r\n\r\nktensor \r\n2 \r\n2 1\r\n1\r\n+3 \r\n% c\r\nmatrix\r\n2\r\n2 1\r\n"
                   "1 \r\n\t2.0\t\r\nfacmatrix\r\n2\r\n1 1\r\n-4.0E-03");
  fs::create_directory(folder / "splatt");
  (void)folder.write("splatt/lambda.mat", "+3.00000000e+00 \n");
  (void)folder.write("splatt/mode1.mat", "+1.00000000e+00 \n+2.00000000e+00 \n\n");
  (void)folder.write("splatt/mode2.mat", "-4e-3");

  EXPECT_EQ(read_kruskal(ktensor), k);
  EXPECT_EQ(read_kruskal(folder / "splatt"), k);
}

// --- names and recognition ---

TEST(Kruskal, the_name_of_an_output_tells_its_format) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "results.d");

  EXPECT_EQ(kruskal_format_by_extension("a/k.ktensor"), KruskalFormat::ktensor);
  EXPECT_EQ(kruskal_format_by_extension("a/k.ktensor.gz"), KruskalFormat::ktensor);
  EXPECT_EQ(kruskal_format_by_extension("k.npz"), KruskalFormat::npz);
  EXPECT_EQ(kruskal_format_by_extension("a.b/factors"), KruskalFormat::splatt);
  EXPECT_EQ(kruskal_format_by_extension("run.2/"), KruskalFormat::splatt);
  EXPECT_EQ(kruskal_format_by_extension(folder / "results.d"), KruskalFormat::splatt);
  EXPECT_EQ(kruskal_format_by_extension("k.tns"), std::nullopt);
  EXPECT_EQ(kruskal_format_by_extension("k.npz.gz"), std::nullopt);
}

TEST(Kruskal, other_contents_are_no_kruskal_tensor) {
  const TemporaryFolder folder;
  const std::string refused =
      "x: is no Kruskal tensor that Polyad knows: a text that begins with 'ktensor', an .npz archive, or a "
      "directory "
      "with lambda.mat and mode1.mat";

  for (const std::string& bytes : {std::string(), std::string("1 1 1 2.0\n"), std::string("# only this\n"),
                                   std::string("ktensors\n"), std::string("\0\0\0\0ktensor\n", 12)}) {
    const auto path = folder.write("x", bytes);
    EXPECT_FALSE(looks_like_kruskal(path));
    EXPECT_EQ(fault(path), refused);
  }
  fs::remove(folder / "x");
  fs::create_directory(folder / "x");
  EXPECT_FALSE(looks_like_kruskal(folder / "x"));
  EXPECT_EQ(fault(folder / "x"), refused);
  EXPECT_THROW((void)looks_like_kruskal(folder / "missing"), Error);
}

// --- SPLATT's directory ---

// Reads a directory with these files, named and filled by pairs.
std::string splatt_fault(const std::vector<std::pair<std::string, std::string>>& files) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "k");
  for (const auto& [name, text] : files) (void)folder.write("k/" + name, text);
  return fault(folder / "k");
}

TEST(Kruskal, faults_of_a_splatt_directory_are_named) {
  const std::pair<std::string, std::string> weights{"lambda.mat", "1\n2\n"}, rows{"mode1.mat", "1 2\n3 4\n"};

  EXPECT_EQ(splatt_fault({rows, {"mode2.mat", "1 2\n"}}),
            "k: lambda.mat is missing: it holds the weights and is written last");
  EXPECT_EQ(splatt_fault({weights}), "k: mode1.mat is missing");
  EXPECT_EQ(splatt_fault({weights, rows}), "k: a tensor of order 1: Polyad takes orders 2 to 16");
  EXPECT_EQ(splatt_fault({weights, rows, {"mode3.mat", "1 2\n"}}),
            "k: mode2.mat is missing, but mode3.mat is there");
  EXPECT_EQ(splatt_fault({weights, rows, {"mode2.mat", "1 2\n3 4\n5\n"}}),
            "k/mode2.mat:3: expected 2 numbers as in row 1, found 1");
  EXPECT_EQ(splatt_fault({weights, rows, {"mode2.mat", "1 2 3\n"}}),
            "k/mode2.mat:1: expected 2 numbers, one per weight in lambda.mat, found 3");
  EXPECT_EQ(splatt_fault({weights, rows, {"mode2.mat", "# none\n"}}), "k/mode2.mat: holds no rows");
  EXPECT_EQ(splatt_fault({weights, rows, {"mode2.mat", "1 nan\n"}}),
            "k/mode2.mat:1: value 'nan' is not finite");
  EXPECT_EQ(splatt_fault({weights, rows, {"mode2.mat", "1 2\n1 1e999\n"}}),
            "k/mode2.mat:2: value '1e999' is not finite");
  EXPECT_EQ(splatt_fault({weights, rows, {"mode2.mat", "1 x2 3\n"}}),
            "k/mode2.mat:1: value 'x2' is not a number");
  EXPECT_EQ(splatt_fault({{"lambda.mat", "1 2\n"}, rows, {"mode2.mat", "1 2\n"}}),
            "k/lambda.mat:1: expected 1 number, a weight per line, found 2");
  EXPECT_EQ(splatt_fault({{"lambda.mat", ""}, rows, {"mode2.mat", "1 2\n"}}),
            "k/lambda.mat: holds no weights");
}

TEST(Kruskal, a_splatt_directory_takes_a_tensor_of_lower_order_and_keeps_other_files) {
  const TemporaryFolder folder;
  write_kruskal(folder / "k", sample({2, 3, 4, 5}, 2), KruskalFormat::splatt);
  (void)folder.write("k/mode4.mat.bak", "mine");
  (void)folder.write("k/mode04.mat", "mine");
  const auto k = sample({2, 3}, 2);

  write_kruskal(folder / "k/", k, KruskalFormat::splatt);

  EXPECT_TRUE(same_bits(read_kruskal(folder / "k"), k));
  EXPECT_FALSE(fs::exists(folder / "k/mode3.mat") || fs::exists(folder / "k/mode4.mat"));
  EXPECT_EQ(contents(folder / "k/mode4.mat.bak"), "mine");
  EXPECT_EQ(contents(folder / "k/mode04.mat"), "mine");
}

TEST(Kruskal, a_splatt_directory_that_cannot_be_completed_stays_as_it_was) {
  const TemporaryFolder folder;
  const auto old = sample({2, 3, 4}, 2);
  write_kruskal(folder / "k", old, KruskalFormat::splatt);
  const auto stop = [](const fs::path&) { throw Error(Errc::resource, "stopped"); };
  EXPECT_THROW(write_kruskal(folder / "k", sample({5, 3, 4, 2}, 2), KruskalFormat::splatt, stop), Error);
  EXPECT_TRUE(same_bits(read_kruskal(folder / "k"), old));
  EXPECT_EQ(test::names_in(folder / ""), std::vector<std::string>{"k"});

  fs::create_directories(folder / "k/mode4.mat/full");  // cannot be removed: nothing is begun
  EXPECT_THROW(write_kruskal(folder / "k", sample({5, 3}, 2), KruskalFormat::splatt), Error);
  fs::remove_all(folder / "k/mode4.mat");
  EXPECT_TRUE(same_bits(read_kruskal(folder / "k"), old));
}

TEST(Kruskal, what_is_no_model_of_the_kind_is_not_replaced) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& name, KruskalFormat format) -> std::string {
    try {
      check_kruskal_place(folder / name, format);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::bad_option);
      return std::string(e.what()).substr((folder / "").string().size());
    }
    return "";
  };
  write_kruskal(folder / "x.npz", sample({2, 3}, 2), KruskalFormat::npz);
  write_kruskal(folder / "x.ktensor", sample({2, 3}, 2), KruskalFormat::ktensor);
  (void)folder.write("empty.npz", "");
  (void)folder.write("other.ktensor", "1 1 1\n");

  EXPECT_EQ(refusal("new.npz", KruskalFormat::npz) + refusal("x.npz", KruskalFormat::npz) +
                refusal("x.ktensor", KruskalFormat::ktensor) + refusal("empty.npz", KruskalFormat::npz),
            "");
  EXPECT_EQ(
      refusal("x.npz", KruskalFormat::ktensor),
      "x.npz: exists and holds something else than a model of this kind; remove it or give another name");
  EXPECT_NE(refusal("other.ktensor", KruskalFormat::ktensor), "");
}

// --- ktensor ---

// A faultless ktensor whose parts can be exchanged for faulty ones.
std::string ktensor_fault(const std::string& from, const std::string& to) {
  std::string text = "ktensor\n2\n2 3\n2\n10 20\nmatrix\n2\n2 2\n1 2\n3 4\nmatrix\n2\n3 2\n5 6\n7 8\n9 11\n";
  EXPECT_NE(text.find(from), std::string::npos);
  text.replace(text.find(from), from.size(), to);
  const TemporaryFolder folder;
  return fault(folder.write("k", text));
}

TEST(Kruskal, faults_of_a_ktensor_are_named_with_their_line) {
  EXPECT_EQ(ktensor_fault("9 11\n", "9 11\n"), "no fault");
  EXPECT_EQ(ktensor_fault("\n2\n2 3", "\n1\n3"), "k:2: a tensor of order 1: Polyad takes orders 2 to 16");
  EXPECT_EQ(ktensor_fault("\n2\n2 3", "\n2 3"), "k:2: expected 1 number, the order, found 2");
  EXPECT_EQ(ktensor_fault("2 3", "2 3 4"), "k:3: expected 2 numbers, a dimension per mode, found 3");
  EXPECT_EQ(ktensor_fault("2 3", "2 0"), "k:3: '0' is not a whole number from 1 on");
  EXPECT_EQ(ktensor_fault("\n2\n10 20", "\nr\n10 20"), "k:4: 'r' is not a whole number from 1 on");
  EXPECT_EQ(ktensor_fault("10 20", "10 20 30"), "k:5: expected 2 numbers, a weight per component, found 3");
  EXPECT_EQ(ktensor_fault("10 20", "inf 20"), "k:5: value 'inf' is not finite");
  EXPECT_EQ(ktensor_fault("matrix\n", ""),
            "k:6: expected 'matrix' or 'facmatrix' before factor 1, found '2'");
  EXPECT_EQ(ktensor_fault("matrix\n2\n2 2", "matrix\n3\n2 2 1"),
            "k:7: factor 1 is of order 3, expected a matrix, of order 2");
  EXPECT_EQ(ktensor_fault("3 2\n5", "4 2\n5"), "k:13: factor 2 has 4 rows, but dimension 2 is 3");
  EXPECT_EQ(ktensor_fault("3 2\n5", "3 1\n5"),
            "k:13: factor 2 has 1 column, but the tensor has 2 components");
  EXPECT_EQ(ktensor_fault("3 4\n", ""), "k:10: factor 1 ends after 1 row, expected 2");
  EXPECT_EQ(ktensor_fault("3 4\n", "3 4\n5 6\n"),
            "k:11: expected 'matrix' or 'facmatrix' before factor 2, found '5'");
  EXPECT_EQ(ktensor_fault("7 8", "7 8 9"), "k:15: expected 2 numbers, one per component, found 3");
  EXPECT_EQ(ktensor_fault("7 8", "7 8e"), "k:15: value '8e' is not a number");
  EXPECT_EQ(ktensor_fault("9 11\n", ""), "k:15: the file ends where row 3 of factor 2 should follow");
  EXPECT_EQ(ktensor_fault("9 11\n", "9 11\n\nmatrix\n"),
            "k:18: expected the end of the file behind factor 2, found 'matrix'");
  EXPECT_EQ(ktensor_fault("2 3", "2 9000000000000000000"),
            "k:13: factor 2 has 3 rows, but dimension 2 is 9000000000000000000");
}

// --- npz ---

// Whatever the bytes, reading ends with an Error or a tensor; an archive has checksums, so with its own.
void read_damaged(const TemporaryFolder& folder, const std::string& bytes,
                  const std::optional<Kruskal<double>>& expected) {
  fs::remove(folder / "damaged");  // some file systems wait for the disk when a file is overwritten
  const auto path = folder.write("damaged", bytes);
  try {
    const auto k = read_kruskal(path);
    EXPECT_TRUE(!expected || same_bits(k, *expected));
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::bad_input) << e.what();
  }
}

void damage_every_byte(const TemporaryFolder& folder, const fs::path& path) {
  const std::string bytes = contents(path);
  const bool has_checksums = bytes.starts_with("PK");
  const auto k = has_checksums ? std::optional(read_kruskal(path)) : std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    read_damaged(folder, bytes.substr(0, i), k);
    for (const char mask : {'\x01', '\x80', '\xff', '\x24'}) {
      std::string flipped = bytes;
      flipped[i] = char(flipped[i] ^ mask);
      read_damaged(folder, flipped, k);
    }
  }
}

TEST(Kruskal, no_damage_to_any_byte_leads_beyond_an_error) {
  const TemporaryFolder folder;
  write_kruskal(folder / "k.npz", sample({2, 1, 2}, 2), KruskalFormat::npz);
  write_kruskal(folder / "k.ktensor", sample({2, 1}, 2), KruskalFormat::ktensor);

  damage_every_byte(folder, folder / "k.npz");
  damage_every_byte(folder, folder / "k.ktensor");
  if (const char* files = std::getenv("POLYAD_TEST_DATA"))
    damage_every_byte(folder, fs::path(files) / "kruskal" / "mixed_types.npz");
}

// --- refusals to write ---

std::string refusal(const Kruskal<double>& k) {
  const TemporaryFolder folder;
  try {
    write_kruskal(folder / "k", k, KruskalFormat::ktensor);
  } catch (const Error& e) {
    EXPECT_FALSE(fs::exists(folder / "k"));
    return std::string(e.what()).substr((folder / "").string().size());
  }
  return "no refusal";
}

TEST(Kruskal, nothing_is_written_that_could_not_be_read) {
  const auto changed = [](auto change) {
    auto k = sample({2, 3}, 2);
    change(k);
    return refusal(k);
  };

  EXPECT_EQ(changed([](auto& k) { k.weights[1] = std::nan(""); }),
            "k: cannot be written: weight 2 is 'nan', not finite");
  EXPECT_EQ(changed([](auto& k) { k.factors[1](2, 0) = -std::numeric_limits<double>::infinity(); }),
            "k: cannot be written: value '-inf' in row 3 and column 1 of factor 2 is not finite");
  EXPECT_EQ(changed([](auto& k) { k.factors[1] = Matrix<double>(3, 4); }),
            "k: cannot be written: factor 2 has 4 columns, but there are 2 weights");
  EXPECT_EQ(changed([](auto& k) { k.factors[0] = Matrix<double>(0, 2); }),
            "k: cannot be written: factor 1 has no rows");
  EXPECT_EQ(changed([](auto& k) { k.factors.pop_back(); }),
            "k: cannot be written: a tensor of order 1: Polyad takes orders 2 to 16");
  EXPECT_EQ(changed([](auto& k) { k.weights.clear(); }),
            "k: cannot be written: the tensor has no components");
}

TEST(Kruskal, knows_the_files_of_a_directory_by_their_names) {
  for (const char* name : {"lambda.mat", "mode1.mat", "mode12.mat"})
    EXPECT_TRUE(is_part_of_splatt_model(name));
  for (const char* name : {"mode0.mat", "mode01.mat", "mode1.map", "modex.mat", "mode.mat", "lambda.txt", ""})
    EXPECT_FALSE(is_part_of_splatt_model(name)) << name;
}

}  // namespace
}  // namespace polyad::io
