#include "polyad/io/hypergraphs/hmetis_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "polyad/base/error.hpp"
#include "polyad/io/hypergraphs/partition_file.hpp"
#include "tests/support/random_hypergraph.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

TEST(HmetisFile, comes_back_as_it_was_written) {
  const test::TemporaryFolder folder;
  const auto path = folder / "x.hgr";
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto h = test::random_hypergraph(1 + Index(seed * 3), Index(seed), seed,
                                           seed % 2 ? test::Weights::random : test::Weights::equal);
    io::write_hypergraph(path, h);
    EXPECT_EQ(io::read_hypergraph(path), h);
  }
  EXPECT_THROW(io::write_hypergraph(path, test::random_hypergraph(9, 4, 1, test::Weights::random, 2)), Error);
}

TEST(HmetisFile, has_comments_empty_nets_and_pins_that_repeat) {
  const test::TemporaryFolder folder;
  const auto path = folder / "x.hgr";
  std::ofstream(path) << "% head\n3 4 1\n7 2 1 2\n%\n1\n5 4 3\n";
  const auto h = io::read_hypergraph(path);
  EXPECT_EQ(h.num_nets(), 3);
  EXPECT_EQ(h.net_weight(0), 7);
  EXPECT_TRUE(std::ranges::equal(h.pins(0), std::array{0, 1}));
  EXPECT_EQ(h.net_size(1), 0);
  EXPECT_TRUE(std::ranges::equal(h.pins(2), std::array{2, 3}));
}

TEST(HmetisFile, with_far_more_vertices_than_pins_is_refused) {
  const test::TemporaryFolder folder;
  const auto path = folder / "x.hgr";
  std::ofstream(path) << "1 2000000000\n1 2 3\n";
  EXPECT_THROW(io::read_hypergraph(path), Error);
  std::ofstream(path) << "1 900000\n1 2 3\n";
  EXPECT_EQ(io::read_hypergraph(path).num_vertices(), 900000);
}

TEST(PartitionFile, comes_back_as_it_was_written) {
  const test::TemporaryFolder folder;
  const auto path = folder / "x.part";
  const std::vector<int> parts{0, 4, 2, 2, 1};
  io::write_partition(path, parts);
  EXPECT_EQ(io::read_partition(path, {0, 5, 5, 5}), parts);
  EXPECT_EQ(io::read_partition(path, {1, 2, 5, 5}), (std::vector<int>{4, 2}));
  EXPECT_EQ(io::read_partition(path, io::up_to(9, 5)), parts);
  EXPECT_THROW(io::read_partition(path, {0, 9, 9, 5}), Error);
  EXPECT_THROW(io::read_partition(path, io::up_to(3, 5)), Error);
  EXPECT_THROW(io::read_partition(path, {0, 5, 5, 4}), Error);
  const auto fault = [&](const io::PartitionLines& lines) {
    try {
      io::read_partition(path, lines);
    } catch (const Error& e) {
      return e.message();
    }
    return std::string();
  };
  EXPECT_EQ(fault({0, 9, 9, 5, false, "user"}), "has 5 lines; expected 9, one for each user");
  EXPECT_EQ(fault({0, 3, 3, 5, true, "user"}), "has 5 lines; expected at most 3, one for each user");
  EXPECT_EQ(fault({0, 5, 5, 4, false, "user", "the run has 4 processes"}),
            "'4' is not a part; expected a number from 0 to 3: the run has 4 processes");
}

}  // namespace
}  // namespace polyad
