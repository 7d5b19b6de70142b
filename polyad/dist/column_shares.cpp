#include "polyad/dist/column_shares.hpp"

#include <algorithm>
#include <numeric>

namespace polyad {
namespace {

// Turns counts, kept one place behind, into where lists begin.
void accumulate(Array<Index>& begin) {
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
}

}  // namespace

Index ColumnShares::num_ratings(Index column) const {
  return std::accumulate(ratings.begin() + begin[column], ratings.begin() + begin[column + 1], Index(0));
}

Index ColumnShares::max_connectivity() const {
  Index most = 0;
  for (Index j = 0; j < num_columns(); ++j) most = std::max(most, connectivity(j));
  return most;
}

std::vector<Index> ColumnShares::connectivities() const {
  std::vector<Index> counts(std::size_t(max_connectivity() + 1), 0);
  for (Index j = 0; j < num_columns(); ++j) ++counts[std::size_t(connectivity(j))];
  return counts;
}

ColumnShares share_columns(const SparseTensor<double>& ratings, std::span<const int> row_parts,
                           int num_parts) {
  const auto rows = ratings.indices(0), columns = ratings.indices(1);
  const auto num_columns = std::size_t(ratings.extent(1));
  Array<Index> begin(num_columns + 1, 0);
  for (const Index j : columns) ++begin[j + 1];
  accumulate(begin);
  Array<int> parts(columns.size());  // of the ratings, by column
  Array<Index> next(begin.begin(), begin.end() - 1);
  for (std::size_t z = 0; z < columns.size(); ++z) parts[next[columns[z]]++] = row_parts[rows[z]];

  ColumnShares result;
  result.num_parts = num_parts;
  result.begin.reserve(num_columns + 1);
  for (std::size_t j = 0; j < num_columns; ++j) {
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

ColumnShares gather_shares(const Comm& comm, Index num_columns, std::span<const ColumnCount> mine) {
  const auto all = comm.all_gather_varying(mine);
  ColumnShares result;
  result.num_parts = comm.size();
  result.begin.assign(std::size_t(num_columns + 1), 0);
  for (const auto& [column, ratings] : all.items) ++result.begin[column + 1];
  accumulate(result.begin);
  result.parts.resize(all.items.size());
  result.ratings.resize(all.items.size());
  Array<Index> next(result.begin.begin(), result.begin.end() - 1);
  std::size_t at = 0;
  for (int part = 0; part < comm.size(); ++part)
    for (Index i = 0; i < all.counts[std::size_t(part)]; ++i, ++at) {
      const Index share = next[all.items[at].column]++;
      result.parts[share] = part;
      result.ratings[share] = all.items[at].ratings;
    }
  return result;
}

}  // namespace polyad
