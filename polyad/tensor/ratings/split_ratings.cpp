#include "polyad/tensor/ratings/split_ratings.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

// In [0, 1).
double draw(const RatingSplit& split, Index user, Index item) {
  constexpr std::uint64_t streams_of_splits = std::uint64_t(0x5eed) << 48;
  return Random(split.seed, streams_of_splits + std::uint64_t(user)).uniform(std::uint64_t(item));
}

// The rating of every user that is drawn lowest, unless it is the only one.
std::vector<bool> leave_one_out(const SparseTensor<double>& x, const RatingSplit& split) {
  const auto users = x.indices(0), items = x.indices(1);
  std::vector<Index> order(users.size());
  std::iota(order.begin(), order.end(), Index(0));
  std::vector<double> draws(users.size());
  for (std::size_t z = 0; z < draws.size(); ++z) draws[z] = draw(split, users[z], items[z]);
  std::ranges::sort(order, [&](Index a, Index b) {
    return std::tuple(users[a], draws[a], items[a]) < std::tuple(users[b], draws[b], items[b]);
  });
  std::vector<bool> is_test(users.size(), false);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const bool is_first = i == 0 || users[order[i - 1]] != users[order[i]];
    if (is_first && users[order[i + 1]] == users[order[i]]) is_test[order[i]] = true;
  }
  return is_test;
}

std::vector<bool> choose_test(const SparseTensor<double>& x, const RatingSplit& split) {
  if (split.kind == RatingSplit::Kind::leave_one_out) return leave_one_out(x, split);
  std::vector<bool> is_test(std::size_t(x.num_nonzeros()), false);
  if (split.kind == RatingSplit::Kind::none) return is_test;
  for (std::size_t z = 0; z < is_test.size(); ++z)
    is_test[z] = draw(split, x.indices(0)[z], x.indices(1)[z]) < split.fraction;
  return is_test;
}

// Nonzeros `order[0]`, `order[1]`, ...
SparseTensor<double> select(const SparseTensor<double>& x, std::span<const Index> order) {
  SparseTensor<double> result(x.extents());
  result.resize(std::ssize(order));
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (int m = 0; m < x.order(); ++m) result.indices(m)[i] = x.indices(m)[order[i]];
    result.values()[i] = x.values()[order[i]];
  }
  return result;
}

// Whether there is a rating of this user and item. Requires that they are sorted by user, then by item.
bool holds(const SparseTensor<double>& ratings, Index user, Index item) {
  const auto users = ratings.indices(0), items = ratings.indices(1);
  const auto [first, last] = std::ranges::equal_range(users, user);
  return std::binary_search(items.begin() + (first - users.begin()), items.begin() + (last - users.begin()),
                            item);
}

}  // namespace

SplitRatings split_ratings(SparseTensor<double> ratings, const RatingSplit& split) {
  const auto is_test = choose_test(ratings, split);
  std::vector<Index> train, test;
  for (std::size_t z = 0; z < is_test.size(); ++z) (is_test[z] ? test : train).push_back(Index(z));
  auto tested = select(ratings, test);
  if (test.empty()) return {std::move(ratings), std::move(tested)};
  return {select(ratings, train), std::move(tested)};
}

int fold_of(const RatingFolds& folds, Index user, Index item) {
  RatingSplit split;
  split.seed = folds.seed;
  return std::min(int(draw(split, user, item) * folds.count), folds.count - 1);
}

Index keep_last_ratings(SparseTensor<double>& ratings) {
  sort_nonzeros(ratings, natural_mode_order(2));
  const auto users = ratings.indices(0), items = ratings.indices(1);
  const auto values = ratings.values();
  const Index count = ratings.num_nonzeros();
  Index kept = 0;
  for (Index z = 0; z < count; ++z) {
    if (z + 1 < count && users[z] == users[z + 1] && items[z] == items[z + 1]) continue;
    users[kept] = users[z];
    items[kept] = items[z];
    values[kept++] = values[z];
  }
  ratings.resize(kept);
  return count - kept;
}

Index count_learned_tests(const SplitRatings& ratings) {
  const auto& test = ratings.test;
  Index count = 0;
  for (Index z = 0; z < test.num_nonzeros(); ++z)
    if (holds(ratings.train, test.indices(0)[z], test.indices(1)[z])) ++count;
  return count;
}

Index leave_out_learned_tests(SplitRatings& ratings) {
  const auto& test = ratings.test;
  SparseTensor<double> others(test.extents());
  for (Index z = 0; z < test.num_nonzeros(); ++z) {
    const Index user = test.indices(0)[z], item = test.indices(1)[z];
    if (!holds(ratings.train, user, item)) others.append(std::array{user, item}, test.values()[z]);
  }
  const Index num_learned = test.num_nonzeros() - others.num_nonzeros();
  ratings.test = std::move(others);
  return num_learned;
}

}  // namespace polyad
