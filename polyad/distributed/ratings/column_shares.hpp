#pragma once

#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/row_owners.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Which parts hold ratings of each column of a matrix whose rows are distributed, and how many. The shares
// of column j are begin[j], ..., begin[j + 1] - 1, by ascending part; their number is its connectivity.
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
  // [k]: number of columns with ratings in k parts.
  std::vector<Index> connectivities() const;
  friend bool operator==(const ColumnShares&, const ColumnShares&) = default;
};

// Computes the shares for any number of parts, on one process.
ColumnShares share_columns(const SparseTensor<double>& ratings, const RowOwners& row_owners, int num_parts);

// The same if every process has some of the ratings, in any order. Collective.
ColumnShares gather_shares(const Comm& comm, const SparseTensor<double>& own, const RowOwners& row_owners,
                           int num_parts);

}  // namespace polyad
