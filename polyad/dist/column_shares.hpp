#pragma once

#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Which parts hold ratings of each column of a matrix whose rows are dealt out, and how many. The shares of
// column j are those from begin[j] to begin[j + 1], by ascending part; their number is its connectivity.
struct ColumnShares {
  int num_parts = 1;
  Array<Index> begin = Array<Index>(1, 0);
  Array<int> parts;      // [share]
  Array<Index> ratings;  // [share]

  Index num_columns() const { return std::ssize(begin) - 1; }
  Index num_shares() const { return std::ssize(parts); }
  Index connectivity(Index column) const { return begin[column + 1] - begin[column]; }
  Index num_ratings(Index column) const;
  Index max_connectivity() const;
  // [k]: how many columns have ratings in k parts.
  std::vector<Index> connectivities() const;
  friend bool operator==(const ColumnShares&, const ColumnShares&) = default;
};

// For any number of parts, on one process. row_parts: [row].
ColumnShares share_columns(const SparseTensor<double>& ratings, std::span<const int> row_parts,
                           int num_parts);

// From what every process holds itself: a part is a process. Collective.
struct ColumnCount {
  Index column, ratings;
};
ColumnShares gather_shares(const Comm& comm, Index num_columns, std::span<const ColumnCount> mine);

}  // namespace polyad
