#include "polyad/kernels/ratings/item_neighbours.hpp"

#include <algorithm>
#include <cmath>

#include "polyad/base/parallel.hpp"

namespace polyad::kernels {
namespace {

struct ChosenItem {
  Index item;
  double weight;  // of its rating
};

// Each positively rated item of a user once, ascending.
std::vector<ChosenItem> chosen_items(const KnownItems& known, const RatingWeight& weight) {
  std::vector<ChosenItem> chosen;
  for (std::size_t i = 0; i < known.items.size(); ++i)
    if (known.ratings[i] > 0 && (chosen.empty() || chosen.back().item != known.items[i]))
      chosen.push_back({known.items[i], weight(known.ratings[i])});
  return chosen;
}

// Lists of numbers, one after another.
struct NumberLists {
  Array<Index> begins;  // [list], and the end
  Array<std::int32_t> numbers;

  std::span<const std::int32_t> of(Index list) const { return part(numbers, list); }
  // What belongs to the numbers of a list, of an array beside that of all numbers.
  template <class T>
  std::span<const T> part(const Array<T>& beside, Index list) const {
    return std::span(beside).subspan(std::size_t(begins[list]), std::size_t(begins[list + 1] - begins[list]));
  }
};

// Which items each user with a part chose, and by which users each item is chosen.
struct Choices {
  NumberLists of_user, users_of;
  Array<float> roots;           // beside of_user: sqrt(w / n)
  std::vector<double> squares;  // [item]: g_ii
};

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

Choices choices_of(const RatingsByUser& rated, Index num_items, const RatingWeight& weight) {
  Choices all{{}, {}, {}, std::vector<double>(std::size_t(num_items), 0)};
  auto& lists = all.of_user;
  lists.begins.push_back(0);
  lists.numbers.reserve(rated.items.size());
  all.roots.reserve(rated.items.size());
  for (Index user = 0; user < rated.num_users(); ++user) {
    const auto chosen = chosen_items({rated.items_of(user), rated.values_of(user)}, weight);
    if (std::ssize(chosen) <= ItemNeighbours::most_of_user)
      for (const auto& [item, of_rating] : chosen) {
        lists.numbers.push_back(std::int32_t(item));
        all.roots.push_back(float(std::sqrt(of_rating / double(chosen.size()))));
        all.squares[item] += of_rating / double(chosen.size());
      }
    lists.begins.push_back(Index(lists.numbers.size()));
  }
  all.users_of = transposed(lists, num_items);
  return all;
}

bool has_neighbours(const Choices& all, Index item) {
  return std::ssize(all.users_of.of(item)) >= ItemNeighbours::fewest_ratings;
}

// The most similar items, by ascending item. Of equally similar ones those of lower numbers.
std::vector<ItemTerm> neighbours_of(const Choices& all, Index item, std::vector<double>& sums) {
  if (!has_neighbours(all, item)) return {};
  std::vector<ItemTerm> found;
  for (const Index user : all.users_of.of(item)) {
    const auto others = all.of_user.of(user);
    const auto roots = all.of_user.part(all.roots, user);
    const auto own = double(roots[std::size_t(std::ranges::lower_bound(others, item) - others.begin())]);
    for (std::size_t i = 0; i < others.size(); ++i) {
      const Index other = others[i];
      if (sums[other] == 0 && other != item && has_neighbours(all, other)) found.push_back({other, 0});
      sums[other] += own * double(roots[i]);
    }
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

ItemNeighbours find_neighbours(const RatingsByUser& rated, Index num_items,
                               const RatingConfidence& confidence) {
  const RatingWeight weight(confidence, rated.values);
  const auto all = choices_of(rated, num_items, weight);
  std::vector<std::vector<ItemTerm>> lists(static_cast<std::size_t>(num_items));
  parallel_parts(num_items, [&](Index begin, Index end, int) {
    std::vector<double> sums(std::size_t(num_items), 0);
    for (Index item = begin; item < end; ++item) lists[item] = neighbours_of(all, item, sums);
  });
  ItemNeighbours result;
  result.weight = weight;
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
  for (const auto& [item, weight] : chosen_items(known, neighbours_.weight))
    for (Index n = neighbours_.begins[item]; n < neighbours_.begins[item + 1]; ++n) {
      const Index other = neighbours_.items[n];
      if (sums_[other] == 0) touched_.push_back(other);
      sums_[other] += weight * double(neighbours_.similarities[n]);
    }
  constexpr Index items_per_sorted = 16;  // that are looked through in the time in which one is sorted
  if (std::ssize(touched_) * items_per_sorted < neighbours_.num_items()) {
    std::ranges::sort(touched_);
  } else {
    touched_.clear();
    for (Index item = 0; item < neighbours_.num_items(); ++item)
      if (sums_[item] != 0) touched_.push_back(item);
  }
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

double item_similarity(const RatingsByUser& rated, Index one, Index other,
                       const RatingConfidence& confidence) {
  const RatingWeight weight(confidence, rated.values);
  const Index asked[2] = {one, other};
  double both = 0, squares[2] = {};
  Index counts[2] = {};
  for (Index user = 0; user < rated.num_users(); ++user) {
    const auto chosen = chosen_items({rated.items_of(user), rated.values_of(user)}, weight);
    if (std::ssize(chosen) > ItemNeighbours::most_of_user) continue;
    double roots[2] = {};
    for (int i = 0; i < 2; ++i) {
      const auto found = std::ranges::find(chosen, asked[i], &ChosenItem::item);
      if (found == chosen.end()) continue;
      roots[i] = std::sqrt(found->weight / double(chosen.size()));
      squares[i] += roots[i] * roots[i];
      ++counts[i];
    }
    both += roots[0] * roots[1];
  }
  const bool are_known = std::ranges::min(counts) >= ItemNeighbours::fewest_ratings;
  if (one == other || !are_known) return 0;
  return both / (std::sqrt(squares[0] * squares[1]) + ItemNeighbours::shrinkage);
}

}  // namespace ref

}  // namespace polyad::kernels
