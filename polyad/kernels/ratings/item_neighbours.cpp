#include "polyad/kernels/ratings/item_neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "polyad/base/parallel.hpp"

namespace polyad::kernels {
namespace {

struct ChosenItem {
  Index item;
  double weight;  // of its rating
};

// So many items are looked through in the time in which one is remembered and sorted.
constexpr Index items_per_remembered = 16;

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
  Array<float> roots;         // beside of_user: sqrt(w / n)
  std::vector<double> norms;  // [item]: sqrt(g_ii)
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

// Items that have no neighbours are left out, but count in n.
Choices choices_of(const RatingsByUser& rated, Index num_items, const RatingWeight& weight) {
  const auto has_part = [](const std::vector<ChosenItem>& chosen) {
    return std::ssize(chosen) <= ItemNeighbours::most_of_user;
  };
  const auto chosen_by = [&](Index user) {
    return chosen_items({rated.items_of(user), rated.values_of(user)}, weight);
  };
  std::vector<Index> counts(std::size_t(num_items), 0);
  for (Index user = 0; user < rated.num_users(); ++user)
    if (const auto chosen = chosen_by(user); has_part(chosen))
      for (const auto& one : chosen) ++counts[one.item];

  Choices all{{}, {}, {}, std::vector<double>(std::size_t(num_items), 0)};
  auto& lists = all.of_user;
  lists.begins.push_back(0);
  lists.numbers.reserve(rated.items.size());
  all.roots.reserve(rated.items.size());
  for (Index user = 0; user < rated.num_users(); ++user) {
    if (const auto chosen = chosen_by(user); has_part(chosen))
      for (const auto& [item, of_rating] : chosen) {
        if (counts[item] < ItemNeighbours::fewest_ratings) continue;
        lists.numbers.push_back(std::int32_t(item));
        all.roots.push_back(float(std::sqrt(of_rating / double(chosen.size()))));
        all.norms[item] += of_rating / double(chosen.size());
      }
    lists.begins.push_back(Index(lists.numbers.size()));
  }
  for (double& norm : all.norms) norm = std::sqrt(norm);
  all.users_of = transposed(lists, num_items);
  return all;
}

// Adds products of roots over the users of an item. `first_added` is called with each other item once.
template <class Fn>
void add_products(const Choices& all, Index item, std::vector<double>& sums, Fn first_added) {
  for (const Index user : all.users_of.of(item)) {
    const auto others = all.of_user.of(user);
    const auto roots = all.of_user.part(all.roots, user);
    const auto own = double(roots[std::size_t(std::ranges::lower_bound(others, item) - others.begin())]);
    for (std::size_t i = 0; i < others.size(); ++i) {
      double& sum = sums[others[i]];
      if (sum == 0) first_added(others[i]);
      sum += own * double(roots[i]);
    }
  }
}

// Some items of one, ascending.
struct SimilarItems {
  std::vector<std::int32_t> items;
  std::vector<double> similarities;
};

// The other items that a user of this one chose, with sums of products. Where there are many, looking through
// all items takes less time than to remember them. `sums` are zero before and after.
SimilarItems items_with_sums(const Choices& all, Index item, std::vector<double>& sums) {
  Index most = 0;
  for (const Index user : all.users_of.of(item)) most += std::ssize(all.of_user.of(user));
  SimilarItems found;
  if (most * items_per_remembered < std::ssize(sums)) {
    add_products(all, item, sums, [&](std::int32_t other) { found.items.push_back(other); });
    std::ranges::sort(found.items);
    std::erase(found.items, item);
  } else {
    add_products(all, item, sums, [](std::int32_t) {});
    found.items.resize(sums.size() + 1);  // the last is written where no sum is left
    Index count = 0;
    for (Index other = 0; other < std::ssize(sums); ++other) {
      found.items[count] = std::int32_t(other);
      count += Index(sums[other] != 0 && other != item);
    }
    found.items.resize(std::size_t(count));
  }
  for (const auto other : found.items) found.similarities.push_back(std::exchange(sums[other], 0));
  sums[item] = 0;
  return found;
}

// Keeps the most similar items; of equally similar ones those of lower numbers.
void keep_most_similar(SimilarItems& found, Index count) {
  if (std::ssize(found.items) <= count) return;
  auto sorted = found.similarities;
  std::ranges::nth_element(sorted, sorted.begin() + count - 1, std::greater());
  const double least = sorted[count - 1];
  Index equal = std::ranges::count(std::span(sorted).first(std::size_t(count)), least);
  Index kept = 0;
  for (std::size_t i = 0; i < found.items.size(); ++i) {
    const double similarity = found.similarities[i];
    if (similarity < least || (similarity == least && equal-- <= 0)) continue;
    found.items[kept] = found.items[i];
    found.similarities[kept++] = similarity;
  }
  found.items.resize(std::size_t(kept));
  found.similarities.resize(std::size_t(kept));
  found.items.shrink_to_fit();
  found.similarities.shrink_to_fit();
}

SimilarItems neighbours_of(const Choices& all, Index item, std::vector<double>& sums) {
  if (all.users_of.of(item).empty()) return {};
  auto found = items_with_sums(all, item, sums);
  for (std::size_t i = 0; i < found.items.size(); ++i)
    found.similarities[i] /= all.norms[item] * all.norms[found.items[i]] + ItemNeighbours::shrinkage;
  keep_most_similar(found, ItemNeighbours::max_count);
  return found;
}

}  // namespace

ItemNeighbours find_neighbours(const RatingsByUser& rated, Index num_items,
                               const RatingConfidence& confidence) {
  const RatingWeight weight(confidence, rated.values);
  const auto all = choices_of(rated, num_items, weight);
  std::vector<SimilarItems> lists(static_cast<std::size_t>(num_items));
  const Index parts = num_threads();  // of every parts-th item: low numbers often have more ratings
  parallel_for(parts, [&](Index part) {
    std::vector<double> sums(std::size_t(num_items), 0);
    for (Index item = part; item < num_items; item += parts) lists[item] = neighbours_of(all, item, sums);
  });
  ItemNeighbours result;
  result.weight = weight;
  result.begins.push_back(0);
  for (const auto& [items, similarities] : lists) {
    std::ranges::copy(items, std::back_inserter(result.items));
    for (const double similarity : similarities) result.similarities.push_back(float(similarity));
    result.begins.push_back(Index(result.items.size()));
  }
  return result;
}

NeighbourSums::NeighbourSums(const ItemNeighbours& neighbours, std::span<const Index> candidates)
    : neighbours_(neighbours), candidates_(candidates), sums_(std::size_t(neighbours.num_items()), 0) {}

std::vector<CandidateTerm> NeighbourSums::of(const KnownItems& known) {
  const auto chosen = chosen_items(known, neighbours_.weight);
  Index most = 0;
  for (const auto& one : chosen) most += std::ssize(neighbours_.of(one.item));
  const auto add = [&, sums = std::span(sums_)](auto first_added) {
    for (const auto& [item, weight] : chosen) {
      const auto others = neighbours_.of(item);
      const auto similarities = neighbours_.similarities_of(item);
      for (std::size_t n = 0; n < others.size(); ++n) {
        double& sum = sums[std::size_t(others[n])];
        if (sum == 0) first_added(others[n]);
        sum += weight * double(similarities[n]);
      }
    }
  };
  if (most * items_per_remembered < std::ssize(sums_)) {
    add([&](std::int32_t other) { touched_.push_back(other); });
    return take_touched();
  }
  add([](std::int32_t) {});
  return take_all();
}

std::vector<CandidateTerm> NeighbourSums::take_all() {
  terms_.resize(candidates_.size() + 1);  // the last is written where no sum is left
  Index count = 0;
  for (Index place = 0; place < std::ssize(candidates_); ++place) {
    const double sum = sums_[candidates_[place]];
    terms_[count] = {place, sum};
    count += Index(sum != 0);
  }
  std::ranges::fill(sums_, 0);
  return {terms_.begin(), terms_.begin() + count};
}

std::vector<CandidateTerm> NeighbourSums::take_touched() {
  std::vector<CandidateTerm> terms;
  std::ranges::sort(touched_);
  for (const Index item : touched_) {
    const auto found = std::ranges::lower_bound(candidates_, item);
    if (found != candidates_.end() && *found == item)
      terms.push_back({found - candidates_.begin(), sums_[item]});
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
