#include "polyad/io/arrays/npz.hpp"

#include <gtest/gtest.h>

#include "polyad/base/error.hpp"
#include "polyad/io/arrays/npy_head.hpp"
#include "polyad/io/bytes/zip_writer.hpp"
#include "polyad/io/models/kruskal.hpp"
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

TEST(Npz, the_same_tensor_gives_the_same_archive) {
  const TemporaryFolder folder;
  for (const auto* name : {"a.npz", "b.npz"})
    write_kruskal(folder / name, sample({3, 4}, 2), KruskalFormat::npz);

  EXPECT_EQ(contents(folder / "a.npz"), contents(folder / "b.npz"));
}

TEST(Npz, archives_are_written_as_zip64_where_they_must_be) {
  const TemporaryFolder folder;
  for (const Index zip64_from : {0, 100, 180, 200, 300, 1000}) {  // all, some or none of sizes and places
    OutputFile out(folder / "k.npz");
    ZipWriter archive(out, zip64_from);
    const double values[] = {1, 2, 3, 4};
    const std::string_view bytes(reinterpret_cast<const char*>(values), sizeof values);
    archive.add("factor_0.npy", npy_header(std::array<Index, 2>{2, 2}), bytes);
    archive.add("factor_1.npy", npy_header(std::array<Index, 2>{2, 2}), bytes);
    archive.finish();
    out.commit();

    EXPECT_EQ(read_kruskal(folder / "k.npz"),
              (Kruskal<double>{{1, 1}, {matrix(2, {1, 2, 3, 4}), matrix(2, {1, 2, 3, 4})}}));
  }
}

TEST(Npz, reads_what_numpy_writes) {
  const char* folder = std::getenv("POLYAD_TEST_DATA");
  if (folder == nullptr) GTEST_SKIP() << "POLYAD_TEST_DATA does not name tests/data";
  const fs::path files = fs::path(folder) / "kruskal";
  const Kruskal<double> k{
      {2, 0.5}, {matrix(3, {1, -0.0, 0.1, 5e-324, 1e308, 1e-308}), matrix(2, {0.25, -3, 7.5, 1.0 / 3})}};
  // Without weights; '<f4' in Fortran order, '>f4', '>f8' in Fortran order.
  const Kruskal<double> mixed{
      {1, 1},
      {matrix(3, {1, 2, 3, 4, 5, 6.5}), matrix(2, {0.25, -3, 7.5, 0.125}), matrix(3, {0, 1, 2, 3, 4, 5})}};

  EXPECT_TRUE(same_bits(read_kruskal(files / "stored.npz"), k));
  EXPECT_TRUE(same_bits(read_kruskal(files / "deflated.npz"), k));
  EXPECT_EQ(read_kruskal(files / "mixed_types.npz"), mixed);
  EXPECT_EQ(fault(files / "integer_factor.npz"),
            "integer_factor.npz: factor_0 has dtype '<i8'; only f8 and f4 are read");
  EXPECT_EQ(fault(files / "cube_factor.npz"), "cube_factor.npz: factor_0 has 3 dimensions, expected 2");
}

// An archive of arrays of the shapes given, whose values are 1, 2, ...
struct NamedArray {
  std::string name;
  std::vector<Index> shape;
};
std::string archive_fault(const std::vector<NamedArray>& arrays, double first = 1) {
  const TemporaryFolder folder;
  OutputFile out(folder / "k.npz");
  ZipWriter archive(out);
  for (const auto& [name, shape] : arrays) {
    Index count = 1;
    for (const Index extent : shape) count *= extent;
    std::vector<double> values(std::size_t(count), first);
    archive.add(name + ".npy", npy_header(shape),
                {reinterpret_cast<const char*>(values.data()), 8 * values.size()});
  }
  archive.finish();
  out.commit();
  return fault(folder / "k.npz");
}

TEST(Npz, faults_of_the_arrays_of_an_archive_are_named) {
  const NamedArray weights{"weights", {2}}, factor{"factor_0", {3, 2}};

  EXPECT_EQ(archive_fault({weights, factor, {"factor_1", {4, 2}}, {"other", {1}}}), "no fault");
  EXPECT_EQ(archive_fault({}),
            "k.npz: factor_0 is missing: expected the arrays weights, factor_0, factor_1 and so on");
  EXPECT_EQ(archive_fault({weights, factor}), "k.npz: a tensor of order 1: Polyad takes orders 2 to 16");
  EXPECT_EQ(archive_fault({weights, factor, {"factor_2", {4, 2}}}),
            "k.npz: factor_1 is missing, but factor_2 is there");
  EXPECT_EQ(archive_fault({weights, factor, {"factor_1", {4, 3}}}),
            "k.npz: factor_1 has 3 columns, expected 2 as in weights");
  EXPECT_EQ(archive_fault({factor, {"factor_1", {4, 1}}}),
            "k.npz: factor_1 has 1 column, expected 2 as in factor_0");
  EXPECT_EQ(archive_fault({weights, factor, {"factor_1", {4}}}),
            "k.npz: factor_1 has 1 dimension, expected 2");
  EXPECT_EQ(archive_fault({{"weights", {}}, factor, {"factor_1", {4, 2}}}),
            "k.npz: weights has 0 dimensions, expected 1");
  EXPECT_EQ(archive_fault({weights, factor, {"factor_1", {0, 2}}}), "k.npz: factor_1 is empty");
  EXPECT_EQ(archive_fault({weights, factor, factor}), "k.npz: member 'factor_0.npy' is there twice");
  EXPECT_EQ(archive_fault({factor, {"factor_1", {4, 2}}}, std::nan("")),
            "k.npz: factor_0 has the value 'nan' at [0, 0], which is not finite");
}

// Reads a faultless archive in which the bytes from `place` on, behind the last `mark`, are overwritten.
std::string damaged_fault(const std::string& mark, std::size_t place, const std::string& bytes) {
  const TemporaryFolder folder;
  write_kruskal(folder / "k.npz", sample({3, 2}, 2), KruskalFormat::npz);
  std::string archive = contents(folder / "k.npz");
  archive.replace(archive.rfind(mark) + place, bytes.size(), bytes);
  return fault(folder.write("k.npz", archive));
}

TEST(Npz, damage_to_an_archive_is_named) {
  const std::string member = "PK\x03\x04", entry = "PK\x01\x02", end = "PK\x05\x06";

  EXPECT_EQ(damaged_fault(member, 0, "P"), "no fault");
  EXPECT_EQ(damaged_fault(member, 0, "Q"),
            "k.npz: member 'factor_1.npy' is damaged: its header is not where the directory says");
  EXPECT_EQ(damaged_fault(member, 30, "F"),
            "k.npz: member 'factor_1.npy' is damaged: its header names it 'Factor_1.npy'");
  EXPECT_EQ(damaged_fault("(2, 2)", 1, "3"), "k.npz: factor_1 is 3 by 2 of 8 bytes each, but has 32 bytes");
  EXPECT_EQ(damaged_fault("<f8", 0, "|O'"), "k.npz: factor_1 has dtype '|O'; only f8 and f4 are read");
  EXPECT_EQ(damaged_fault("NUMPY", 5, "\x09"), "k.npz: factor_1 is no .npy array of version 1, 2 or 3");
  EXPECT_EQ(damaged_fault("NUMPY", 7, "\xff\xff"), "k.npz: factor_1 ends within its .npy header");
  EXPECT_EQ(damaged_fault("'shape'", 1, "S"), "k.npz: factor_1 has an .npy header without 'shape'");
  EXPECT_EQ(
      damaged_fault(entry, 10, "\x0c"),
      "k.npz: member 'factor_1.npy' is compressed by method 12; only stored (0) and deflated (8) are read");
  EXPECT_EQ(damaged_fault(entry, 8, "\x01"), "k.npz: member 'factor_1.npy' is encrypted");
  EXPECT_EQ(damaged_fault(entry, 10, "\x08"),
            "k.npz: member 'factor_1.npy' is damaged: it does not inflate to its size");
  EXPECT_EQ(damaged_fault(entry, 24, "\xff\xff"),
            "k.npz: is a damaged zip archive: member 'factor_1.npy' cannot make 65535 bytes of 160");
  EXPECT_EQ(damaged_fault(entry, 16, std::string(4, '\0')).substr(0, 53),
            "k.npz: member 'factor_1.npy' is damaged: its checksum");
  EXPECT_EQ(damaged_fault(end, 0, "X"),
            "k.npz: is a truncated zip archive: the directory at its end is missing");
  EXPECT_EQ(damaged_fault(end, 16, "\x01"), "k.npz: is a damaged zip archive: its directory makes no sense");
}

}  // namespace
}  // namespace polyad::io
