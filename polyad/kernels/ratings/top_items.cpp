#include "polyad/kernels/ratings/top_items.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/kernels/block.hpp"
#include "polyad/kernels/ratings/best_items.hpp"

namespace polyad::kernels {
namespace {

// Users whose scores are summed at once: as many as have room in the registers, to hide each other's latency.
#if defined(__aarch64__) || defined(__AVX512F__)
constexpr Index tile_users = 8;
#else
constexpr Index tile_users = 4;
#endif
constexpr Index panel_users = 256;      // users per packing of a block of items
constexpr Index block_bytes = 1 << 18;  // of packed items: they stay in the second-level cache

// The products <w, h> of a block of items for a few users at a time.
template <class Real>
class ItemBlock {
 public:
  static constexpr int tile_items = 2 * vector_lanes<Real>;
  using Scores = std::array<Array<Real>, tile_users>;

  explicit ItemBlock(const RatingModel<Real>& model) : model_(model) {}

  // Number of items per block for a number of factors.
  static Index size_for(Index num_factors) {
    const Index fitting = block_bytes / (std::max<Index>(num_factors, 1) * Index(sizeof(Real)));
    return std::clamp<Index>(fitting / tile_items, 1, 64) * tile_items;
  }

  // Items lie factor by factor in tiles, the last one filled up with zeros: all take the same way.
  void pack(std::span<const Index> items) {
    const Index factors = model_.num_factors();
    num_tiles_ = (std::ssize(items) + tile_items - 1) / tile_items;
    packed_.assign(std::size_t(num_tiles_ * tile_items * factors), Real(0));
    for (Index i = 0; i < std::ssize(items); ++i) {
      const auto row = model_.items.row(items[i]);
      Real* const to = packed_.data() + i / tile_items * tile_items * factors + i % tile_items;
      for (Index f = 0; f < factors; ++f) to[f * tile_items] = row[f];
    }
  }

  void multiply(const std::array<const Real*, tile_users>& users, Scores& products) const {
    using Tile = Block<Real, tile_items>;
    const Index factors = model_.num_factors();
    for (auto& list : products) list.resize(std::size_t(num_tiles_ * tile_items));
    for (Index t = 0; t < num_tiles_; ++t) {
      Tile sums[tile_users];
      const Real* row = packed_.data() + t * tile_items * factors;
      for (Index f = 0; f < factors; ++f, row += tile_items) {
        const auto items = Tile::load(row);
        for (Index u = 0; u < tile_users; ++u) sums[u].add_scaled(users[u][f], items);
      }
      for (Index u = 0; u < tile_users; ++u) sums[u].store(products[u].data() + t * tile_items);
    }
  }

 private:
  const RatingModel<Real>& model_;
  Index num_tiles_ = 0;
  Array<Real> packed_;
};

// Offers a block of items, all but the excluded ones. Hardly any is worth it: whether one of several is, is
// decided by vector instructions.
template <class Real>
void offer_block(std::span<const Index> items, std::span<const Real> scores, std::span<const Index> excluded,
                 BestItems<Real>& best) {
  constexpr Index group = 16;
  const auto is_worth_a_look = [&](const Real* of_group) {
    int count = 0;
    for (Index i = 0; i < group; ++i) count += int(best.is_worth_offering(of_group[i]));
    return count > 0;
  };
  for (Index begin = 0; begin < std::ssize(items); begin += group) {
    const Index end = std::min(begin + group, std::ssize(items));
    if (end - begin == group && !is_worth_a_look(scores.data() + begin)) continue;
    for (Index i = begin; i < end; ++i)
      if (best.is_worth_offering(scores[i]) && !std::ranges::binary_search(excluded, items[i]))
        best.offer(items[i], scores[i]);
  }
}

// What is asked of a panel of users. Without targets there is no order to measure.
template <class Real>
struct ListRequest {
  const RatingModel<Real>& model;
  const UserRows<Real>& users;
  std::span<const Index> candidates;
  Index count = 0;
  std::span<const std::span<const Index>> targets;  // [user], or empty
  std::span<const ScoreTerms<Real>> terms;

  std::span<const Index> excluded(Index user) const {
    return users.excluded.empty() ? std::span<const Index>() : users.excluded[std::size_t(user)];
  }
  // The places of items that are candidates, each once; `items` ascend.
  std::vector<Index> places_of(std::span<const Index> items) const {
    std::vector<Index> found;
    for (const Index item : items) {
      const auto at = std::ranges::lower_bound(candidates, item);
      const Index place = at - candidates.begin();
      if (at != candidates.end() && *at == item && (found.empty() || found.back() != place))
        found.push_back(place);
    }
    return found;
  }
};

// Counts the pairs of a target of a user and another candidate that are in order, by scores alone.
template <class Real>
class TargetOrder {
 public:
  TargetOrder() = default;
  explicit TargetOrder(std::vector<Real> targets) : targets_(std::move(targets)) {
    std::ranges::sort(targets_);
  }

  void add(std::span<const Real> scores) { change(scores, 1); }
  void remove(std::span<const Real> scores) { change(scores, -1); }
  double share() const {
    const double pairs = double(num_others_) * double(targets_.size());
    return pairs > 0 ? double(doubled_) / (2 * pairs) : 0.5;
  }

 private:
  void change(std::span<const Real> scores, Index sign) {
    if (targets_.empty()) return;
    num_others_ += sign * std::ssize(scores);
    doubled_ += sign * (std::ssize(targets_) <= max_compared ? compared(scores) : searched(scores));
  }

  // Twice the pairs in order, of which equal scores are halves. This loop becomes vector instructions.
  Index compared(std::span<const Real> scores) const {
    Index sum = 0;
    for (const Real target : targets_) {
      int doubled = 0;
      for (const Real score : scores) doubled += int(score < target) + int(score <= target);
      sum += doubled;
    }
    return sum;
  }
  Index searched(std::span<const Real> scores) const {
    Index sum = 0;
    for (const Real score : scores) {
      const auto [first, last] = std::ranges::equal_range(targets_, score);
      sum += (targets_.end() - last) + (targets_.end() - first);
    }
    return sum;
  }

  static constexpr Index max_compared = 128;
  std::vector<Real> targets_;  // their scores, ascending
  Index num_others_ = 0, doubled_ = 0;
};

using NeighbourTerms = std::span<const CandidateTerm>;

// Adds what neighbours say to the scores of the candidates from a place on.
template <class Real>
void add_sums(NeighbourTerms terms, double weight, Index from, std::span<Real> scores) {
  const Index to = from + std::ssize(scores);
  for (auto term = std::ranges::lower_bound(terms, from, {}, &CandidateTerm::place);
       term != terms.end() && term->place < to; ++term)
    scores[std::size_t(term->place - from)] += Real(weight * term->sum);
}

template <class Real>
std::array<const Real*, tile_users> rows_of_tile(const UserRows<Real>& users, Index first, Index last) {
  std::array<const Real*, tile_users> rows;
  for (Index u = 0; u < tile_users; ++u)  // a last tile is filled up with its last user
    rows[u] = users.rows.row(std::min(first + u, last - 1)).data();
  return rows;
}

// The lists of the users [first, last), by one thread.
template <class Real>
class Panel {
 public:
  Panel(const ListRequest<Real>& request, Index first, Index last)
      : request_(request), first_(first), last_(last), block_(request.model) {
    if (request.users.neighbours != nullptr) {
      NeighbourSums sums(*request.users.neighbours, request.candidates);
      for (Index user = first; user < last; ++user)
        neighbours_.push_back(sums.of(request.users.known[std::size_t(user)]));
    }
    for (const auto& terms : request.terms) {
      auto& lists = lists_.emplace_back(Lists{terms, {}, {}, {}});
      lists.best.assign(std::size_t(last - first), BestItems<Real>(request.count));
      for (Index user = first; user < last && !request.targets.empty(); ++user)
        lists.orders.push_back(begin_order(lists, user));
    }
  }

  void rank() {
    const auto candidates = request_.candidates;
    const Index step = ItemBlock<Real>::size_for(request_.model.num_factors());
    for (Index from = 0; from < std::ssize(candidates); from += step) {
      const auto items = candidates.subspan(std::size_t(from))
                             .first(std::size_t(std::min(step, std::ssize(candidates) - from)));
      block_.pack(items);
      for (auto& lists : lists_) lists.take_biases(items);
      for (Index tile = first_; tile < last_; tile += tile_users) {
        block_.multiply(rows_of_tile(request_.users, tile, last_), products_);
        for (Index user = tile; user < std::min(tile + tile_users, last_); ++user)
          for (auto& lists : lists_) offer(from, items, user, products_[user - tile], lists);
      }
    }
  }

  // results: [terms][user]. False when a prediction was no number.
  bool take(std::span<std::vector<UserRanking>> results) {
    bool all_finite = true;
    for (std::size_t t = 0; t < lists_.size(); ++t)
      for (Index user = first_; user < last_; ++user) {
        auto& [terms, biases, best, orders] = lists_[t];
        auto& result = results[t][user];
        all_finite &= best[user - first_].all_finite();
        result.best = best[user - first_].take(request_.users.offsets[user]);
        if (!orders.empty()) result.pairs_in_order = orders[user - first_].share();
        for (const auto& item : result.best) all_finite &= std::isfinite(item.score);
      }
    return all_finite;
  }

 private:
  // With the same terms, of all users.
  struct Lists {
    ScoreTerms<Real> terms;
    Array<Real> biases;  // of the items of the block
    std::vector<BestItems<Real>> best;
    std::vector<TargetOrder<Real>> orders;  // empty without targets

    void take_biases(std::span<const Index> items) {
      biases.assign(items.size(), Real(0));
      for (std::size_t i = 0; i < items.size() && !terms.item_biases.empty(); ++i)
        biases[i] = terms.item_biases[std::size_t(items[i])];
    }
  };

  NeighbourTerms neighbours_of(Index user) const {
    return neighbours_.empty() ? NeighbourTerms() : neighbours_[std::size_t(user - first_)];
  }

  // The scores of a block but what neighbours add.
  std::span<Real> add_biases(const Array<Real>& products, const Array<Real>& biases) {
    scores_.resize(biases.size());
    for (std::size_t i = 0; i < biases.size(); ++i) scores_[i] = products[i] + biases[i];
    return scores_;
  }

  void offer(Index from, std::span<const Index> items, Index user, const Array<Real>& products,
             Lists& lists) {
    const auto scores = add_biases(products, lists.biases);
    if (lists.terms.neighbours != 0) add_sums(neighbours_of(user), lists.terms.neighbours, from, scores);
    offer_block<Real>(items, scores, request_.excluded(user), lists.best[user - first_]);
    if (!lists.orders.empty()) lists.orders[user - first_].add(scores);
  }

  // The scores of some candidates for one user, the same as among all.
  std::vector<Real> score(Lists& lists, Index user, std::span<const Index> places) {
    std::vector<Index> items;
    for (const Index place : places) items.push_back(request_.candidates[std::size_t(place)]);
    block_.pack(items);
    lists.take_biases(items);
    block_.multiply(rows_of_tile(request_.users, user, user + 1), products_);
    const auto scores = add_biases(products_[0], lists.biases);
    for (std::size_t i = 0; i < places.size() && lists.terms.neighbours != 0; ++i)
      add_sums(neighbours_of(user), lists.terms.neighbours, places[i], scores.subspan(i, 1));
    return {scores.begin(), scores.end()};
  }

  // Begins with what is not among the others: targets themselves and excluded items.
  TargetOrder<Real> begin_order(Lists& lists, Index user) {
    const auto targets = request_.places_of(request_.targets[std::size_t(user)]);
    if (targets.empty()) return {};
    const auto scores = score(lists, user, targets);
    TargetOrder<Real> order(scores);
    order.remove(scores);
    order.remove(score(lists, user, request_.places_of(request_.excluded(user))));
    return order;
  }

  const ListRequest<Real>& request_;
  Index first_, last_;
  ItemBlock<Real> block_;
  typename ItemBlock<Real>::Scores products_;
  Array<Real> scores_;
  std::vector<std::vector<CandidateTerm>> neighbours_;  // [user of the panel]; empty: they add nothing
  std::vector<Lists> lists_;                            // [terms]
};

// Where panels of consecutive users begin, and the end of the last. Each has so many users or, where
// neighbours count, fewer that have many neighbours.
template <class Real>
std::vector<Index> panel_begins(const UserRows<Real>& users, Index max_users, Index num_items) {
  std::vector<Index> begins{0};
  const Index num_users = users.rows.num_rows();
  Index num_terms = 0;
  for (Index user = 0; user < num_users; ++user) {
    const Index own = users.neighbours == nullptr
                          ? 0
                          : std::min(num_items, ItemNeighbours::max_count *
                                                    std::ssize(users.known[std::size_t(user)].items));
    num_terms += own;
    if (user - begins.back() == max_users || num_terms > max_neighbour_terms(num_items)) {
      begins.push_back(user);
      num_terms = own;
    }
  }
  if (num_users > 0) begins.push_back(num_users);
  return begins;
}

void require_finite(bool all_finite, std::size_t bytes) {
  if (!all_finite)
    throw Error(Errc::bad_input, std::string("a predicted rating is beyond what ") +
                                     (bytes == 4 ? "single" : "double") + " precision holds");
}

}  // namespace

template <class Real>
UserRows<Real> gather_users(const RatingModel<Real>& model, std::span<const Index> users,
                            const RatingsByUser* rated) {
  UserRows<Real> gathered{
      {std::ssize(users), model.num_factors()}, Array<double>(users.size(), model.mean), {}};
  if (rated != nullptr) gathered.excluded.resize(users.size());
  parallel_for(std::ssize(users), [&](Index i) {
    std::ranges::copy(model.users.row(users[i]), gathered.rows.row(i).begin());
    if (!model.user_biases.empty()) gathered.offsets[i] += double(model.user_biases[users[i]]);
    if (rated != nullptr) gathered.excluded[i] = rated->items_of(users[i]);
  });
  return gathered;
}

template <class Real>
std::vector<std::vector<UserRanking>> rank_items(const RatingModel<Real>& model, const UserRows<Real>& users,
                                                 std::span<const Index> candidates, Index count,
                                                 std::span<const std::span<const Index>> targets,
                                                 std::span<const ScoreTerms<Real>> terms) {
  const ListRequest<Real> request{model, users, candidates, count, targets, terms};
  const Index num_users = users.rows.num_rows(), threads = num_threads();
  std::vector results(terms.size(), std::vector<UserRanking>(static_cast<std::size_t>(num_users)));
  // Smaller panels where there are few users, so that every thread has some.
  const auto panels = panel_begins(
      users, std::clamp<Index>((num_users + threads - 1) / threads, 1, panel_users), model.num_items());
  std::vector<char> is_finite(panels.size() - 1, 1);
  parallel_for(std::ssize(is_finite), [&](Index p) {
    Panel<Real> panel(request, panels[p], panels[p + 1]);
    panel.rank();
    is_finite[p] = char(panel.take(results));
  });
  require_finite(std::ranges::find(is_finite, 0) == is_finite.end(), sizeof(Real));
  return results;
}

template <class Real>
std::vector<ScoredItems> top_items(const RatingModel<Real>& model, const UserRows<Real>& users,
                                   std::span<const Index> candidates, Index count) {
  const auto terms = terms_of_model(model);
  auto ranked = rank_items<Real>(model, users, candidates, count, {}, std::span(&terms, 1));
  std::vector<ScoredItems> lists;
  for (auto& one : ranked.front()) lists.push_back(std::move(one.best));
  return lists;
}

template <class Real>
SimilarRows similar_rows(const Matrix<Real>& factors, Index row, std::span<const Index> candidates,
                         std::span<const Index> num_ratings, double support, Index count) {
  // Divided by its largest entry, a row has a square that is a number.
  const auto largest = [&](Index i) {
    double maximum = 0;
    for (const Real x : factors.row(i)) maximum = std::max(maximum, std::abs(double(x)));
    return maximum;
  };
  const double scale = largest(row);
  if (scale == 0) return {};
  constexpr double none = -2;  // less than any
  Array<double> cosines(candidates.size(), none);
  parallel_for(std::ssize(candidates), [&](Index c) {
    const double other_scale = largest(candidates[c]);
    if (candidates[c] == row || other_scale == 0) return;
    double product = 0, own = 0, other = 0;
    for (Index f = 0; f < factors.num_cols(); ++f) {
      const double x = double(factors(row, f)) / scale, y = double(factors(candidates[c], f)) / other_scale;
      product += x * y;
      own += x * x;
      other += y * y;
    }
    cosines[c] = std::clamp(product / std::sqrt(own * other), -1.0, 1.0);
  });
  BestItems<double> best(count);  // of places among the candidates
  for (Index c = 0; c < std::ssize(candidates); ++c) {
    if (cosines[c] == none) continue;
    const auto known = double(num_ratings[std::size_t(candidates[c])]);
    best.offer(c, support > 0 ? cosines[c] * (known / (known + support)) : cosines[c]);
  }
  SimilarRows rows;
  for (const auto& [place, similarity] : best.take(0))
    rows.push_back({candidates[place], similarity, cosines[place], num_ratings[candidates[place]]});
  return rows;
}

namespace ref {

template <class Real>
double predicted_rating(const RatingModel<Real>& model, Index user, Index item) {
  double rating = model.mean;
  if (!model.user_biases.empty()) rating += double(model.user_biases[user]);
  if (!model.item_biases.empty()) rating += double(model.item_biases[item]);
  for (Index f = 0; f < model.num_factors(); ++f)
    rating += double(model.users(user, f)) * double(model.items(item, f));
  return rating;
}

template double predicted_rating(const RatingModel<float>&, Index, Index);
template double predicted_rating(const RatingModel<double>&, Index, Index);

}  // namespace ref

template UserRows<float> gather_users(const RatingModel<float>&, std::span<const Index>,
                                      const RatingsByUser*);
template UserRows<double> gather_users(const RatingModel<double>&, std::span<const Index>,
                                       const RatingsByUser*);
template std::vector<std::vector<UserRanking>> rank_items(const RatingModel<float>&, const UserRows<float>&,
                                                          std::span<const Index>, Index,
                                                          std::span<const std::span<const Index>>,
                                                          std::span<const ScoreTerms<float>>);
template std::vector<std::vector<UserRanking>> rank_items(const RatingModel<double>&, const UserRows<double>&,
                                                          std::span<const Index>, Index,
                                                          std::span<const std::span<const Index>>,
                                                          std::span<const ScoreTerms<double>>);
template std::vector<ScoredItems> top_items(const RatingModel<float>&, const UserRows<float>&,
                                            std::span<const Index>, Index);
template std::vector<ScoredItems> top_items(const RatingModel<double>&, const UserRows<double>&,
                                            std::span<const Index>, Index);
template SimilarRows similar_rows(const Matrix<float>&, Index, std::span<const Index>, std::span<const Index>,
                                  double, Index);
template SimilarRows similar_rows(const Matrix<double>&, Index, std::span<const Index>,
                                  std::span<const Index>, double, Index);

}  // namespace polyad::kernels
