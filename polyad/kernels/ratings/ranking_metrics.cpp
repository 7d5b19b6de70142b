#include "polyad/kernels/ratings/ranking_metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/kernels/ratings/top_items.hpp"
#include "polyad/tensor/slice_counts.hpp"

namespace polyad::kernels {
namespace {

constexpr Index batch_users = 4096;

// A user to whom some held-out items are relevant.
struct RankedUser {
  Index user = 0;
  std::vector<Index> relevant;  // ascending
};

template <class Real>
void check_extents(const RatingModel<Real>& model, const SparseTensor<double>& ratings) {
  if (ratings.order() != 2 || ratings.extent(0) != model.num_users() ||
      ratings.extent(1) != model.num_items())
    throw Error(Errc::bad_input, "ranking needs ratings of the users and items of the model, and no others");
}

// Between the smallest and the largest, also after rounding: equal values are all at least their mean.
double mean_of(std::span<const double> values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double value : values) sum += value / double(values.size());
  const auto [least, largest] = std::ranges::minmax(values);
  return std::clamp(sum, least, largest);
}

// Also counts what would be relevant, had the user not rated it before.
std::vector<RankedUser> find_relevant(const RatingsByUser& rated, const RatingsByUser& held_out,
                                      double threshold, Index& num_learned) {
  std::vector<RankedUser> users;
  for (Index user = 0; user < held_out.num_users(); ++user) {
    const auto items = held_out.items_of(user), before = rated.items_of(user);
    const auto values = held_out.values_of(user);
    RankedUser ranked{user, {}};
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (values[i] < threshold) continue;
      if (std::ranges::binary_search(before, items[i]))
        ++num_learned;
      else
        ranked.relevant.push_back(items[i]);
    }
    const auto repeated = std::ranges::unique(ranked.relevant);
    ranked.relevant.erase(repeated.begin(), repeated.end());
    if (!ranked.relevant.empty()) users.push_back(std::move(ranked));
  }
  return users;
}

double gain_at(Index place) {  // from 0
  return 1 / std::log2(double(place + 2));
}

// All of them.
constexpr std::array measures{&ListMeasures::precision, &ListMeasures::recall, &ListMeasures::ndcg,
                              &ListMeasures::map,       &ListMeasures::mrr,    &ListMeasures::hit_rate,
                              &ListMeasures::auc};

// The measures of one user, to be added up.
ListMeasures measure_user(const UserRanking& found, const RankedUser& user, Index k) {
  double gain = 0, ideal = 0, precisions = 0;
  Index hits = 0;
  ListMeasures measured;
  for (Index place = 0; place < std::ssize(found.best); ++place)
    if (std::ranges::binary_search(user.relevant, found.best[place].item)) {
      ++hits;
      gain += gain_at(place);
      precisions += double(hits) / double(place + 1);
      if (hits == 1) measured.mrr = 1 / double(place + 1);
    }
  const Index possible = std::min(k, std::ssize(user.relevant));
  for (Index place = 0; place < possible; ++place) ideal += gain_at(place);
  measured.precision = double(hits) / double(k);
  measured.recall = double(hits) / double(user.relevant.size());
  measured.ndcg = gain / ideal;
  measured.map = precisions / double(possible);
  measured.hit_rate = hits > 0 ? 1 : 0;
  measured.auc = found.pairs_in_order;
  return measured;
}

// Who is asked about what: the same for every model that is compared.
struct RankingTask {
  RatingsByUser rated;
  SliceCounts items;  // those with ratings, which are the candidates
  double threshold = 0;
  std::vector<RankedUser> users;
  Index k = 0;
  bool counts_pairs = true;  // else all users have the same AUC
  Index num_learned = 0;     // held-out ratings that count for nothing, as training has them too
};

template <class Real>
RankingTask task_for(const RatingModel<Real>& model, const SparseTensor<double>& training,
                     const SparseTensor<double>& held_out, Index k, std::optional<double> threshold) {
  check_extents(model, training);
  check_extents(model, held_out);
  if (k < 1) throw Error(Errc::bad_option, "ranking needs at least one place to look at");
  RankingTask task{group_by_user(training),
                   count_slices(training.indices(1), training.extent(1)),
                   threshold ? *threshold : mean_of(training.values()),
                   {},
                   k};
  task.users = find_relevant(task.rated, group_by_user(held_out), task.threshold, task.num_learned);
  return task;
}

// The lists of a few users at a time, with each of `terms`. `neighbours` may be null where none counts.
template <class Real>
std::vector<ListMeasures> measure_lists(const RatingModel<Real>& model, const RankingTask& task,
                                        std::span<const ScoreTerms<Real>> terms,
                                        const ItemNeighbours* neighbours,
                                        const std::function<void()>& between = {}) {
  const Index num_users = std::ssize(task.users);
  const auto& candidates = task.items.slices;
  std::vector<ListMeasures> sums(terms.size());
  std::vector is_recommended(terms.size(), std::vector<char>(std::size_t(model.num_items()), 0));
  for (Index begin = 0; begin < num_users; begin += batch_users) {
    if (between) between();
    const auto batch = std::span(task.users)
                           .subspan(std::size_t(begin))
                           .first(std::size_t(std::min(batch_users, num_users - begin)));
    std::vector<Index> users;
    std::vector<std::span<const Index>> relevant;
    for (const auto& one : batch) {
      users.push_back(one.user);
      if (task.counts_pairs) relevant.emplace_back(one.relevant);
    }
    auto rows = gather_users(model, users, &task.rated);
    if (neighbours != nullptr) add_neighbours(rows, *neighbours, users, task.rated);
    const auto found = rank_items<Real>(model, rows, candidates, task.k, relevant, terms);
    for (std::size_t t = 0; t < terms.size(); ++t)
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto one = measure_user(found[t][i], batch[i], task.k);
        for (const auto measure : measures) sums[t].*measure += one.*measure;
        for (const auto& item : found[t][i].best) is_recommended[t][item.item] = 1;
      }
  }
  if (num_users == 0) return sums;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    for (const auto measure : measures) sums[t].*measure /= double(num_users);
    if (!candidates.empty())
      sums[t].coverage = double(std::ranges::count(is_recommended[t], 1)) / double(candidates.size());
  }
  return sums;
}

// With the terms of the model.
template <class Real>
ListMeasures measure_lists(const RatingModel<Real>& model, const RankingTask& task,
                           const std::function<void()>& between) {
  const auto neighbours = neighbours_for(model, task.rated);
  const auto terms = terms_of_model(model);
  return measure_lists<Real>(model, task, std::span(&terms, 1), neighbours ? &*neighbours : nullptr, between)
      .front();
}

// Scores an item by its number of ratings, whoever the user is.
RatingModel<double> popularity_model(const SparseTensor<double>& ratings, const SliceCounts& items) {
  RatingModel<double> model{0, {ratings.extent(0), 0}, {ratings.extent(1), 0}, {}, {}};
  model.item_biases.assign(std::size_t(ratings.extent(1)), 0);
  for (std::size_t i = 0; i < items.slices.size(); ++i)
    model.item_biases[items.slices[i]] = double(items.counts[i]);
  return model;
}

}  // namespace

template <class Real>
RankingMetrics measure_ranking(const RatingModel<Real>& model, const SparseTensor<double>& training,
                               const SparseTensor<double>& held_out, Index k, std::optional<double> threshold,
                               const std::function<void()>& between) {
  const auto task = task_for(model, training, held_out, k, threshold);
  RankingMetrics metrics;
  metrics.k = k;
  metrics.threshold = task.threshold;
  metrics.num_users = std::ssize(task.users);
  metrics.num_learned = task.num_learned;
  metrics.model = measure_lists(model, task, between);
  metrics.popularity = measure_lists(popularity_model(training, task.items), task, between);
  return metrics;
}

template <class Real>
std::vector<double> measure_ndcg(const RatingModel<Real>& model, const SparseTensor<double>& training,
                                 const SparseTensor<double>& held_out, Index k,
                                 std::optional<double> threshold, std::span<const ScoreTerms<Real>> terms,
                                 const ItemNeighbours* neighbours) {
  auto task = task_for(model, training, held_out, k, threshold);
  task.counts_pairs = false;
  std::vector<double> ndcg;
  for (const auto& measured : measure_lists(model, task, terms, neighbours)) ndcg.push_back(measured.ndcg);
  return ndcg;
}

template RankingMetrics measure_ranking(const RatingModel<float>&, const SparseTensor<double>&,
                                        const SparseTensor<double>&, Index, std::optional<double>,
                                        const std::function<void()>&);
template RankingMetrics measure_ranking(const RatingModel<double>&, const SparseTensor<double>&,
                                        const SparseTensor<double>&, Index, std::optional<double>,
                                        const std::function<void()>&);
template std::vector<double> measure_ndcg(const RatingModel<float>&, const SparseTensor<double>&,
                                          const SparseTensor<double>&, Index, std::optional<double>,
                                          std::span<const ScoreTerms<float>>, const ItemNeighbours*);
template std::vector<double> measure_ndcg(const RatingModel<double>&, const SparseTensor<double>&,
                                          const SparseTensor<double>&, Index, std::optional<double>,
                                          std::span<const ScoreTerms<double>>, const ItemNeighbours*);

}  // namespace polyad::kernels
