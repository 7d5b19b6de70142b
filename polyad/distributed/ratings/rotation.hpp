#pragma once

#include <vector>

#include "polyad/distributed/ratings/column_shares.hpp"

namespace polyad {

// An epoch of eta-PASGD (ALGORITHMS, section 4) as a value: in which sub-epoch each part learns from its
// ratings of each column, and which of the parts that do so in a sub-epoch owns the column then. All ratings
// of a column and a part are in one sub-epoch (condition 6); the parts of a column are spread over as many
// sub-epochs as there are, or as it has parts, as evenly as can be (condition 7).
struct Rotation {
  ColumnShares columns;
  int num_sub_epochs = 1;
  Array<int> sub_epoch;        // [share]
  Array<unsigned char> owned;  // [share]: whether its part owns the column in that sub-epoch

  int num_parts() const { return columns.num_parts; }
};

// Deals out so that the sum over sub-epochs of the busiest part's ratings is small: columns by falling number
// of ratings, their parts to the sub-epochs in which these have least to do; then parts of a column change
// places where that helps. Owners are those who receive least until then. Deterministic.
Rotation plan_rotation(ColumnShares columns, int num_sub_epochs);

// A row that travels at the end of a sub-epoch, between the parts of two shares of its column.
struct RowMove {
  int sub_epoch;
  Index column, from, to;  // shares
};

// Calls reduce(move) for every row that goes to its owner at the end of a sub-epoch, and expand(move) for
// every one that its owner then sends to those who need it next. By column, and so in the same order for
// whoever asks.
template <class Reduce, class Expand>
void for_each_move(const Rotation& rotation, Reduce reduce, Expand expand);

// Of a column with ratings in so many parts, in rows, per epoch: the identities (8) and (9) of seed 004.
Index rotation_volume(Index connectivity, Index num_sub_epochs);
Index rotation_staleness(Index connectivity, Index num_sub_epochs);
// Of all columns.
Index rotation_volume(const ColumnShares& columns, Index num_sub_epochs);
Index rotation_staleness(const ColumnShares& columns, Index num_sub_epochs);

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
