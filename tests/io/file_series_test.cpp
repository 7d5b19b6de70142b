#include "polyad/io/tensors/file_series.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "polyad/io/tensors/read_tensor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

using Paths = std::vector<std::filesystem::path>;

// The nonzeros of all shares one after the other, as texts.
std::vector<std::string> lines_of_series(const Paths& files, const ReadOptions& options, int parts) {
  std::vector<std::string> lines;
  for (int part = 0; part < parts; ++part) {
    auto read = options;
    read.share = {part, parts};
    const auto slab = read_series(files, read).slab;
    for (std::size_t z = 0; z < slab.values.size(); ++z) {
      std::string line;
      for (std::size_t m = 0; m < slab.indices.size(); ++m)
        line += slab.labels.empty() ? fmt::format("{} ", slab.indices[m][z])
                                    : slab.labels[m].labels[std::size_t(slab.indices[m][z])] + " ";
      lines.push_back(line + fmt::format("{}", slab.values[z]));
    }
  }
  return lines;
}

TEST(FileSeries, shares_of_many_files_follow_each_other_like_those_of_one) {
  const test::TemporaryFolder folder;
  std::mt19937 random(11);
  const auto draw = [&](int below) { return int(random() % unsigned(below)); };
  ReadOptions table;
  table.columns = parse_columns("a,b,n", "");
  for (int round = 0; round < 40; ++round) {
    const bool is_table = round % 2 == 0;
    const std::string header = is_table ? "a,b,n\n" : "";
    std::string one = header;
    Paths files;
    const int num_files = 2 + draw(6);
    for (int f = 0; f < num_files; ++f) {
      std::string text;
      for (int i = is_table ? draw(2) * draw(30) : 1 + draw(30); i > 0; --i)
        text += is_table ? fmt::format("u{},v{},{}\n", draw(9), draw(99), draw(9) + 1)
                         : fmt::format("{} {} {}\n", draw(9) + 1, draw(99) + 1, draw(9) + 1);
      one += text;
      files.push_back(folder.write(fmt::format("part{}", f), header + text));
    }
    ReadOptions options = is_table ? table : ReadOptions();
    options.format = is_table ? TensorFormat::csv : TensorFormat::tns;
    const auto expected = lines_of_series({folder.write("one", one)}, options, 1);
    for (const int parts : {1, 2, 3, 5, 9})
      EXPECT_EQ(lines_of_series(files, options, parts), expected) << round << " on " << parts;
  }
}

TEST(FileSeries, one_file_is_read_as_it_is) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("x.tns", "# dims: 4 4\n# nnz: 1\n1 2 3\n");
  const auto alone = read_tensor(path), series = read_tensor_series({path}, {});
  EXPECT_EQ(alone.tensor.extents(), series.tensor.extents());
  EXPECT_EQ(series.tensor.extents(), (std::vector<Index>{4, 4}));
}

}  // namespace
}  // namespace polyad::io
