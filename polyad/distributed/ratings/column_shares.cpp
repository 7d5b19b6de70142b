#include "polyad/distributed/ratings/column_shares.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace polyad {
namespace {

// Converts counts, stored one position later, to the beginnings of lists.
void accumulate(Array<Index>& begin) {
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
}

// Where things begin when they are put in the order of their columns.
template <class Columns>
Array<Index> begins_of(Index num_columns, const Columns& columns) {
  Array<Index> begin(std::size_t(num_columns + 1), 0);
  for (const Index j : columns) ++begin[j + 1];
  accumulate(begin);
  return begin;
}

struct Share {
  Index part, ratings;
};

// All shares of a column that are of the same part become one.
ColumnShares added_up(int num_parts, const Array<Index>& begin, Array<Share> shares) {
  ColumnShares result;
  result.num_parts = num_parts;
  result.begin.reserve(begin.size());
  for (std::size_t j = 0; j + 1 < begin.size(); ++j) {
    const std::span<Share> of_column(shares.data() + begin[j], shares.data() + begin[j + 1]);
    std::ranges::sort(of_column, {}, &Share::part);
    for (const auto& share : of_column) {
      if (std::ssize(result.parts) == result.begin.back() || result.parts.back() != share.part) {
        result.parts.push_back(int(share.part));
        result.ratings.push_back(0);
      }
      result.ratings.back() += share.ratings;
    }
    result.begin.push_back(std::ssize(result.parts));
  }
  return result;
}

}  // namespace

Index ColumnShares::num_ratings(Index column) const {
  return std::accumulate(ratings.begin() + begin[column], ratings.begin() + begin[column + 1], Index(0));
}

Index ColumnShares::max_connectivity() const {
  Index maximum = 0;
  for (Index j = 0; j < num_columns(); ++j) maximum = std::max(maximum, connectivity(j));
  return maximum;
}

std::vector<Index> ColumnShares::connectivities() const {
  std::vector<Index> counts(std::size_t(max_connectivity() + 1), 0);
  for (Index j = 0; j < num_columns(); ++j) ++counts[std::size_t(connectivity(j))];
  return counts;
}

ColumnShares share_columns(const SparseTensor<double>& ratings, const RowOwners& row_owners, int num_parts) {
  const auto rows = ratings.indices(0), columns = ratings.indices(1);
  const auto begin = begins_of(ratings.extent(1), columns);
  Array<int> parts(columns.size());                        // of the ratings, by column
  Array<int> part_of(std::size_t(ratings.extent(0)), -1);  // computed once per row: shuffles are slow
  Array<Index> next(begin.begin(), begin.end() - 1);
  for (std::size_t z = 0; z < columns.size(); ++z) {
    int& part = part_of[rows[z]];
    if (part < 0) part = row_owners(rows[z]);
    parts[next[columns[z]]++] = part;
  }

  ColumnShares result;
  result.num_parts = num_parts;
  result.begin.reserve(begin.size());
  for (std::size_t j = 0; j + 1 < begin.size(); ++j) {
    const std::span<int> of_column(parts.data() + begin[j], parts.data() + begin[j + 1]);
    std::ranges::sort(of_column);
    for (auto at = of_column.begin(); at != of_column.end();) {
      const auto end = std::upper_bound(at, of_column.end(), *at);
      result.parts.push_back(*at);
      result.ratings.push_back(end - at);
      at = end;
    }
    result.begin.push_back(std::ssize(result.parts));
  }
  return result;
}

ColumnShares gather_shares(const Comm& comm, const SparseTensor<double>& own, const RowOwners& row_owners,
                           int num_parts) {
  const auto here = share_columns(own, row_owners, num_parts);
  Array<Index> columns;
  Array<Share> shares;
  for (Index j = 0; j < here.num_columns(); ++j)
    for (Index s = here.begin[j]; s < here.begin[j + 1]; ++s) {
      columns.push_back(j);
      shares.push_back({here.parts[s], here.ratings[s]});
    }
  columns = comm.all_gather_varying(std::span<const Index>(columns)).items;
  shares = comm.all_gather_varying(std::span<const Share>(shares)).items;
  const auto begin = begins_of(own.extent(1), columns);
  Array<Index> next(begin.begin(), begin.end() - 1);
  Array<Share> by_column(shares.size());
  for (std::size_t s = 0; s < shares.size(); ++s) by_column[next[columns[s]]++] = shares[s];
  return added_up(num_parts, begin, std::move(by_column));
}

}  // namespace polyad
