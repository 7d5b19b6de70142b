#include "polyad/kernels/ratings/item_neighbours.hpp"

#include <algorithm>
#include <cmath>

#include "polyad/base/parallel.hpp"

namespace polyad::kernels {
namespace {

// Each positively rated item of a user once, ascending.
std::vector<Index> chosen_items(const KnownItems& known) {
  std::vector<Index> items;
  for (std::size_t i = 0; i < known.items.size(); ++i)
    if (known.ratings[i] > 0 && (items.empty() || items.back() != known.items[i]))
      items.push_back(known.items[i]);
  return items;
}

// Lists of numbers, one after another.
struct NumberLists {
  Array<Index> begins;  // [list], and the end
  Array<std::int32_t> numbers;

  std::span<const std::int32_t> of(Index list) const {
    return std::span(numbers).subspan(std::size_t(begins[list]),
                                      std::size_t(begins[list + 1] - begins[list]));
  }
};

// Which items each user with a part chose, and by which users each item is chosen.
struct Choices {
  NumberLists of_user, users_of;
  std::vector<double> weights;  // [user]: 1 / sqrt(n)
  std::vector<double> squares;  // [item]: g_ii
};

NumberLists items_of_users(const RatingsByUser& rated) {
  NumberLists lists;
  lists.begins.push_back(0);
  lists.numbers.reserve(rated.items.size());
  for (Index user = 0; user < rated.num_users(); ++user) {
    const auto items = chosen_items({rated.items_of(user), rated.values_of(user)});
    if (std::ssize(items) <= ItemNeighbours::most_of_user)
      for (const Index item : items) lists.numbers.push_back(std::int32_t(item));
    lists.begins.push_back(Index(lists.numbers.size()));
  }
  return lists;
}

// [number]: the lists that have it, ascending.
NumberLists transposed(const NumberLists& lists, Index count) {
  NumberLists result;
  result.begins.assign(std::size_t(count) + 1, 0);
  result.numbers.assign(lists.numbers.size(), 0);
  for (const auto number : lists.numbers) ++result.begins[number + 1];
  for (Index number = 0; number < count; ++number) result.begins[number + 1] += result.begins[number];
  auto next = result.begins;
  for (Index list = 0; list + 1 < std::ssize(lists.begins); ++list)
    for (const auto number : lists.of(list)) result.numbers[next[number]++] = std::int32_t(list);
  return result;
}

Choices choices_of(const RatingsByUser& rated, Index num_items) {
  Choices all{items_of_users(rated), {}, {}, std::vector<double>(std::size_t(num_items), 0)};
  all.users_of = transposed(all.of_user, num_items);
  for (Index user = 0; user < rated.num_users(); ++user) {
    const auto items = all.of_user.of(user);
    all.weights.push_back(items.empty() ? 0 : 1 / std::sqrt(double(items.size())));
    for (const auto item : items) all.squares[item] += all.weights.back();
  }
  return all;
}

bool has_neighbours(const Choices& all, Index item) {
  return std::ssize(all.users_of.of(item)) >= ItemNeighbours::fewest_ratings;
}

// The most similar items, by ascending item. Of equally similar ones those of lower numbers.
std::vector<ItemTerm> neighbours_of(const Choices& all, Index item, std::vector<double>& sums) {
  if (!has_neighbours(all, item)) return {};
  std::vector<ItemTerm> found;
  for (const Index user : all.users_of.of(item))
    for (const Index other : all.of_user.of(user)) {
      if (sums[other] == 0 && other != item && has_neighbours(all, other)) found.push_back({other, 0});
      sums[other] += all.weights[user];
    }
  for (auto& [other, similarity] : found)
    similarity =
        sums[other] / (std::sqrt(all.squares[item] * all.squares[other]) + ItemNeighbours::shrinkage);
  for (const Index user : all.users_of.of(item))
    for (const Index other : all.of_user.of(user)) sums[other] = 0;
  if (std::ssize(found) > ItemNeighbours::max_count) {
    const auto is_before = [](const ItemTerm& a, const ItemTerm& b) {
      return a.term != b.term ? a.term > b.term : a.item < b.item;
    };
    std::ranges::nth_element(found, found.begin() + ItemNeighbours::max_count, is_before);
    found.resize(std::size_t(ItemNeighbours::max_count));
    found.shrink_to_fit();
  }
  std::ranges::sort(found, {}, &ItemTerm::item);
  return found;
}

}  // namespace

ItemNeighbours find_neighbours(const RatingsByUser& rated, Index num_items) {
  const auto all = choices_of(rated, num_items);
  std::vector<std::vector<ItemTerm>> lists(static_cast<std::size_t>(num_items));
  parallel_parts(num_items, [&](Index begin, Index end, int) {
    std::vector<double> sums(std::size_t(num_items), 0);
    for (Index item = begin; item < end; ++item) lists[item] = neighbours_of(all, item, sums);
  });
  ItemNeighbours result;
  result.begins.push_back(0);
  for (const auto& list : lists) {
    for (const auto& [item, similarity] : list) {
      result.items.push_back(std::int32_t(item));
      result.similarities.push_back(float(similarity));
    }
    result.begins.push_back(Index(result.items.size()));
  }
  return result;
}

NeighbourTerms::NeighbourTerms(const ItemNeighbours& neighbours, double weight)
    : neighbours_(neighbours), weight_(weight), sums_(std::size_t(neighbours.num_items()), 0) {}

std::vector<ItemTerm> NeighbourTerms::of(const KnownItems& known) {
  for (const Index item : chosen_items(known))
    for (Index n = neighbours_.begins[item]; n < neighbours_.begins[item + 1]; ++n) {
      const Index other = neighbours_.items[n];
      if (sums_[other] == 0) touched_.push_back(other);
      sums_[other] += double(neighbours_.similarities[n]);
    }
  std::ranges::sort(touched_);
  std::vector<ItemTerm> terms;
  terms.reserve(touched_.size());
  for (const Index item : touched_) {
    terms.push_back({item, weight_ * sums_[item]});
    sums_[item] = 0;
  }
  touched_.clear();
  return terms;
}

namespace ref {

double item_similarity(const RatingsByUser& rated, Index one, Index other) {
  const Index asked[2] = {one, other};
  double both = 0, squares[2] = {};
  Index counts[2] = {};
  for (Index user = 0; user < rated.num_users(); ++user) {
    const auto items = chosen_items({rated.items_of(user), rated.values_of(user)});
    if (std::ssize(items) > ItemNeighbours::most_of_user) continue;
    bool has[2];
    for (int i = 0; i < 2; ++i) {
      has[i] = std::ranges::find(items, asked[i]) != items.end();
      if (!has[i]) continue;
      squares[i] += 1 / std::sqrt(double(items.size()));
      ++counts[i];
    }
    if (has[0] && has[1]) both += 1 / std::sqrt(double(items.size()));
  }
  const bool are_known = std::ranges::min(counts) >= ItemNeighbours::fewest_ratings;
  if (one == other || !are_known) return 0;
  return both / (std::sqrt(squares[0] * squares[1]) + ItemNeighbours::shrinkage);
}

}  // namespace ref

}  // namespace polyad::kernels
