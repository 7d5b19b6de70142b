#include "polyad/tensor/ratings/ratings_by_user.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

void sort_items(RatingsByUser& ratings) {
  parallel_parts(ratings.num_users(), [&](Index first, Index last, int) {
    std::vector<std::pair<Index, double>> sorted;
    for (Index user = first; user < last; ++user) {
      const Index begin = ratings.begins[user], end = ratings.begins[user + 1];
      sorted.clear();
      for (Index z = begin; z < end; ++z) sorted.emplace_back(ratings.items[z], ratings.values[z]);
      std::ranges::stable_sort(sorted, {}, &std::pair<Index, double>::first);
      for (Index z = begin; z < end; ++z) {
        ratings.items[z] = sorted[z - begin].first;
        ratings.values[z] = sorted[z - begin].second;
      }
    }
  });
}

}  // namespace

RatingsByUser group_by_user(const SparseTensor<double>& ratings) {
  const auto count = std::size_t(ratings.num_nonzeros());
  const auto users = ratings.indices(0), items = ratings.indices(1);
  RatingsByUser grouped{Array<Index>(std::size_t(ratings.extent(0)) + 1, Index(0)), Array<Index>(count),
                        Array<double>(count)};
  for (const Index user : users) ++grouped.begins[user + 1];
  for (Index user = 0; user < grouped.num_users(); ++user) grouped.begins[user + 1] += grouped.begins[user];
  Array<Index> next(grouped.begins.begin(), grouped.begins.end());
  for (std::size_t z = 0; z < count; ++z) {
    const Index place = next[users[z]]++;
    grouped.items[place] = items[z];
    grouped.values[place] = ratings.values()[z];
  }
  sort_items(grouped);
  return grouped;
}

}  // namespace polyad
