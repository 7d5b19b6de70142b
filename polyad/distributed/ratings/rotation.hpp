#pragma once

#include <cstdint>
#include <vector>

#include "polyad/distributed/ratings/column_shares.hpp"

namespace polyad {

// Schedule of an epoch of eta-PASGD (Abubaker et al. 2023; docs/algorithms.md): the sub-epoch in which each
// part uses its ratings of each column, and which of the parts that do so in a sub-epoch owns the column. All
// ratings of a column and a part are in one sub-epoch (condition 6); the parts of a column are spread as
// evenly as possible over min(number of sub-epochs, number of its parts) sub-epochs (condition 7).
struct Rotation {
  ColumnShares columns;        // whose ratings are distributed by rows
  int num_sub_epochs = 1;      // per epoch
  Array<int> sub_epoch;        // [share]
  Array<unsigned char> owned;  // [share]: whether its part owns the column in that sub-epoch

  int num_parts() const { return columns.num_parts; }
};

// Which of the parts that use a column in a sub-epoch owns it there: averages its copies and sends them on.
enum class ColumnOwners {
  balanced,  // the one that receives the least so far
  random     // any of them, as published
};

// Computes a rotation in which the sum over sub-epochs of the maximum ratings of a part is small:
// columns by decreasing ratings, each part to the sub-epoch in which it has the least work, then
// exchanges within a column. Deterministic; random owners are functions of the seed.
Rotation plan_rotation(ColumnShares columns, int num_sub_epochs, ColumnOwners owners = ColumnOwners::balanced,
                       std::uint64_t seed = 1);

// A row that is sent at the end of a sub-epoch, between the parts of two shares of its column.
struct RowMove {
  int sub_epoch;
  Index column, from, to;  // shares
};

// Calls reduce(move) for every row that is sent to its owner at the end of a
// sub-epoch, and expand(move) for every row that the owner sends to the parts
// that need it next. Ordered by column, and so the same on all processes.
template <class Reduce, class Expand>
void for_each_move(const Rotation& rotation, Reduce reduce, Expand expand);

// Rows per epoch of a column with ratings in `connectivity` parts: Abubaker et al. 2023, (8) and (9).
Index rotation_volume(Index connectivity, Index num_sub_epochs);
Index rotation_staleness(Index connectivity, Index num_sub_epochs);
// The same, summed over all columns.
Index rotation_volume(const ColumnShares& columns, Index num_sub_epochs);
Index rotation_staleness(const ColumnShares& columns, Index num_sub_epochs);

// How far an epoch is predicted to bring a model, compared with an epoch without staleness, which is 1: with
// p, such an error is reached in 1 / p times as many epochs. Where c parts update a column at once and the
// mean is taken, the column moves as far as by a c-th of their ratings; rows always move as far as by all. It
// is the geometric mean of what the two sides move, over all ratings (docs/complete.md compares it with
// runs).
double rotation_progress(const ColumnShares& columns, Index num_sub_epochs);

// The shares of a column in the order of their sub-epochs.
std::vector<Index> shares_in_order(const Rotation& rotation, Index column);

template <class Reduce, class Expand>
void for_each_move(const Rotation& rotation, Reduce reduce, Expand expand) {
  const auto owner_of = [&](const std::vector<Index>& shares, std::size_t begin, std::size_t end) {
    while (begin + 1 < end && rotation.owned[shares[begin]] == 0) ++begin;
    return shares[begin];
  };
  for (Index column = 0; column < rotation.columns.num_columns(); ++column) {
    if (rotation.columns.connectivity(column) < 2) continue;
    const auto shares = shares_in_order(rotation, column);
    const auto end_of = [&](std::size_t begin) {
      std::size_t end = begin;
      while (end < shares.size() && rotation.sub_epoch[shares[end]] == rotation.sub_epoch[shares[begin]])
        ++end;
      return end;
    };
    for (std::size_t begin = 0; begin < shares.size(); begin = end_of(begin)) {
      const int t = rotation.sub_epoch[shares[begin]];
      const std::size_t end = end_of(begin), next = end < shares.size() ? end : 0;
      const Index owner = owner_of(shares, begin, end);
      for (std::size_t i = begin; i < end; ++i)
        if (shares[i] != owner) reduce(RowMove{t, column, shares[i], owner});
      for (std::size_t i = next; i < end_of(next); ++i)
        if (shares[i] != owner) expand(RowMove{t, column, owner, shares[i]});
    }
  }
}

}  // namespace polyad
