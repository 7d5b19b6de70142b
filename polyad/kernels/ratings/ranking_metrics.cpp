#include "polyad/kernels/ratings/ranking_metrics.hpp"

#include <algorithm>
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

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value / double(values.size());
  return sum;
}

std::vector<RankedUser> find_relevant(const RatingsByUser& rated, const RatingsByUser& held_out,
                                      double threshold) {
  std::vector<RankedUser> users;
  for (Index user = 0; user < held_out.num_users(); ++user) {
    const auto items = held_out.items_of(user), before = rated.items_of(user);
    const auto values = held_out.values_of(user);
    RankedUser ranked{user, {}};
    for (std::size_t i = 0; i < items.size(); ++i)
      if (values[i] >= threshold && !std::ranges::binary_search(before, items[i]))
        ranked.relevant.push_back(items[i]);
    const auto repeated = std::ranges::unique(ranked.relevant);
    ranked.relevant.erase(repeated.begin(), repeated.end());
    if (!ranked.relevant.empty()) users.push_back(std::move(ranked));
  }
  return users;
}

double gain_at(Index place) {  // from 0
  return 1 / std::log2(double(place + 2));
}

// The measures of one user, to be added up.
RankingMetrics measure_user(const ScoredItems& recommended, const RankedUser& user, Index k) {
  double gain = 0, ideal = 0;
  Index hits = 0;
  for (Index place = 0; place < std::ssize(recommended); ++place)
    if (std::ranges::binary_search(user.relevant, recommended[place].item)) {
      ++hits;
      gain += gain_at(place);
    }
  for (Index place = 0; place < std::min(k, std::ssize(user.relevant)); ++place) ideal += gain_at(place);
  RankingMetrics metrics;
  metrics.precision = double(hits) / double(k);
  metrics.recall = double(hits) / double(user.relevant.size());
  metrics.ndcg = gain / ideal;
  return metrics;
}

}  // namespace

template <class Real>
RankingMetrics measure_ranking(const RatingModel<Real>& model, const SparseTensor<double>& training,
                               const SparseTensor<double>& held_out, Index k,
                               std::optional<double> threshold) {
  check_extents(model, training);
  check_extents(model, held_out);
  if (k < 1) throw Error(Errc::bad_option, "ranking needs at least one place to look at");
  const auto rated = group_by_user(training);
  const auto candidates = count_slices(training.indices(1), training.extent(1)).slices;
  RankingMetrics sums;
  sums.k = k;
  sums.threshold = threshold ? *threshold : mean_of(training.values());
  const auto ranked = find_relevant(rated, group_by_user(held_out), sums.threshold);
  sums.num_users = std::ssize(ranked);
  for (Index begin = 0; begin < sums.num_users; begin += batch_users) {
    const Index end = std::min(begin + batch_users, sums.num_users);
    std::vector<Index> users;
    for (Index i = begin; i < end; ++i) users.push_back(ranked[i].user);
    const auto recommended = top_items(model, gather_users(model, users, &rated), candidates, k);
    for (Index i = begin; i < end; ++i) {
      const auto one = measure_user(recommended[i - begin], ranked[i], k);
      sums.precision += one.precision;
      sums.recall += one.recall;
      sums.ndcg += one.ndcg;
    }
  }
  for (double* sum : {&sums.precision, &sums.recall, &sums.ndcg})
    if (sums.num_users > 0) *sum /= double(sums.num_users);
  return sums;
}

template RankingMetrics measure_ranking(const RatingModel<float>&, const SparseTensor<double>&,
                                        const SparseTensor<double>&, Index, std::optional<double>);
template RankingMetrics measure_ranking(const RatingModel<double>&, const SparseTensor<double>&,
                                        const SparseTensor<double>&, Index, std::optional<double>);

}  // namespace polyad::kernels
