#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/io/tensors/read_tensor.hpp"

namespace polyad::test {

using Cell = std::vector<Index>;
using Cells = std::map<Cell, double>;

// The bytes of a number, in either order.
template <class Number>
void append_element(std::string& to, Number number, bool big_endian) {
  auto bytes = std::bit_cast<std::array<char, sizeof(Number)>>(number);
  if (big_endian != (std::endian::native == std::endian::big)) std::ranges::reverse(bytes);
  to.append(bytes.data(), bytes.size());
}

// Read in so many shares, which must follow each other.
inline SparseTensor<double> read_in_shares(const std::filesystem::path& path, int parts) {
  io::SlabFacts whole;
  std::vector<io::Slab> slabs;
  for (int part = 0; part < parts; ++part) {
    io::ReadOptions options;
    options.share = {part, parts};
    slabs.push_back(io::read_slab(path, options));
    whole = io::merge(whole, slabs.back().facts);
  }
  SparseTensor<double> all;
  for (auto& slab : slabs) {
    const auto share = io::assemble(std::move(slab), whole, {}).tensor;
    if (all.order() == 0) all = SparseTensor<double>(share.extents());
    EXPECT_EQ(all.extents(), share.extents());
    Cell at(std::size_t(share.order()));
    for (Index z = 0; z < share.num_nonzeros(); ++z) {
      for (int m = 0; m < share.order(); ++m) at[std::size_t(m)] = share.indices(m)[z];
      all.append(at, share.values()[z]);
    }
  }
  return all;
}

inline Cells cells_of(const SparseTensor<double>& x) {
  Cells cells;
  Cell at(std::size_t(x.order()));
  for (Index z = 0; z < x.num_nonzeros(); ++z) {
    for (int m = 0; m < x.order(); ++m) at[std::size_t(m)] = x.indices(m)[z];
    cells[at] += x.values()[z];
  }
  return cells;
}

inline void expect_reads(const std::filesystem::path& path, const std::vector<Index>& dims,
                         const Cells& cells, const std::string& what) {
  const auto whole = read_in_shares(path, 1);
  EXPECT_EQ(whole.extents(), dims) << what;
  EXPECT_EQ(cells_of(whole), cells) << what;
  for (const int parts : {2, 3, 5, 40}) {
    const auto shares = read_in_shares(path, parts);
    for (int m = 0; m < whole.order(); ++m)
      EXPECT_TRUE(std::ranges::equal(shares.indices(m), whole.indices(m))) << what << " " << parts;
    EXPECT_TRUE(std::ranges::equal(shares.values(), whole.values())) << what << " " << parts;
  }
}

inline void expect_fault(const std::filesystem::path& path, const std::string& why) {
  try {
    io::read_tensor(path);
    ADD_FAILURE() << "accepted; expected: " << why;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_input);
    EXPECT_EQ(error.what(), path.string() + ": " + why);
  }
}

}  // namespace polyad::test
