#include "polyad/algo/ratings/add_items.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"
#include "polyad/tensor/ratings/rating_weight.hpp"
#include "polyad/tensor/ratings/split_ratings.hpp"

namespace polyad {
namespace {

double positive_weight(std::span<const double> ratings, const RatingWeight& weight) {
  double sum = 0;
  for (const double rating : ratings)
    if (rating > 0) sum += weight(rating);
  return sum;
}

// What a positive rating of weight 1 adds to the popularity of its item: as that of the item with the largest
// sum of weights says.
template <class Real>
double popularity_of_rating(const RatingModel<Real>& model, const SparseTensor<double>& ratings,
                            const RatingWeight& weight) {
  std::vector<double> sums(std::size_t(model.num_items()), 0);
  for (Index z = 0; z < ratings.num_nonzeros(); ++z)
    if (ratings.values()[z] > 0) sums[std::size_t(ratings.indices(1)[z])] += weight(ratings.values()[z]);
  const auto most = std::ranges::max_element(sums);
  if (most == sums.end() || *most == 0 || model.item_biases.empty()) return 0;
  return double(model.item_biases[std::size_t(most - sums.begin())]) / *most;
}

template <class Real>
Matrix<Real> with_more_rows(const Matrix<Real>& rows, Index num_rows) {
  Matrix<Real> more(num_rows, rows.num_cols());
  std::ranges::copy(rows.flat(), more.flat().begin());
  return more;
}

}  // namespace

template <class Real>
void add_items(RatingModel<Real>& model, Index num_items, std::span<const RatingsOfItem> items,
               const SparseTensor<double>& ratings, const Shrinkage& shrinkage,
               const FoldParameters& parameters) {
  const auto weight = weight_in_popularity(model, ratings.values());
  const double popularity = parameters.alpha ? popularity_of_rating(model, ratings, weight) : 0;
  model.items = with_more_rows(model.items, num_items);
  if (!model.item_biases.empty()) model.item_biases.resize(std::size_t(num_items), Real(0));
  auto exchanged = transposed(std::move(model), RatingSide::item);
  const RowFolder<Real> folder(exchanged, ratings.values(), parameters);
  parallel_for(std::ssize(items), [&](Index i) {
    const auto& one = items[std::size_t(i)];
    const auto folded = folder.fold(one.users, one.ratings, shrinkage.for_items());
    std::ranges::copy(folded.row, exchanged.users.row(one.item).begin());
    const double bias = parameters.alpha ? popularity * positive_weight(one.ratings, weight) : folded.bias;
    if (!exchanged.user_biases.empty()) exchanged.user_biases[std::size_t(one.item)] = Real(bias);
  });
  model = transposed(std::move(exchanged), RatingSide::item);
}

SparseTensor<double> with_ratings_of(const SparseTensor<double>& ratings, Index num_items,
                                     std::span<const RatingsOfItem> items) {
  SparseTensor<double> all({ratings.extent(0), num_items});
  for (Index z = 0; z < ratings.num_nonzeros(); ++z)
    all.append(std::array{ratings.indices(0)[z], ratings.indices(1)[z]}, ratings.values()[z]);
  for (const auto& one : items)
    for (std::size_t z = 0; z < one.users.size(); ++z)
      all.append(std::array{one.users[z], one.item}, one.ratings[z]);
  keep_last_ratings(all);  // which sorts them; there are no others
  return all;
}

template <class Real>
void update_users(RatingModel<Real>& model, Index num_users, std::span<const RatingsOfUser> users,
                  const SparseTensor<double>& ratings, const Shrinkage& shrinkage,
                  const FoldParameters& parameters) {
  model.users = with_more_rows(model.users, num_users);
  if (!model.user_biases.empty()) model.user_biases.resize(std::size_t(num_users), Real(0));
  const RowFolder<Real> folder(model, ratings.values(), parameters);
  parallel_for(std::ssize(users), [&](Index i) {
    const auto& one = users[std::size_t(i)];
    kernels::FoldedUser<Real> folded{Array<Real>(std::size_t(model.num_factors()), Real(0)), 0};
    if (!one.items.empty()) folded = folder.fold(one.items, one.ratings, shrinkage);
    std::ranges::copy(folded.row, model.users.row(one.user).begin());
    if (!model.user_biases.empty()) model.user_biases[std::size_t(one.user)] = Real(folded.bias);
  });
}

SparseTensor<double> with_ratings_of(const SparseTensor<double>& ratings, Index num_users,
                                     std::span<const RatingsOfUser> users) {
  std::vector<bool> is_updated(std::size_t(num_users), false);
  for (const auto& one : users) is_updated[std::size_t(one.user)] = true;
  SparseTensor<double> all({num_users, ratings.extent(1)});
  for (Index z = 0; z < ratings.num_nonzeros(); ++z)
    if (!is_updated[std::size_t(ratings.indices(0)[z])])
      all.append(std::array{ratings.indices(0)[z], ratings.indices(1)[z]}, ratings.values()[z]);
  for (const auto& one : users)
    for (std::size_t z = 0; z < one.items.size(); ++z)
      all.append(std::array{one.user, one.items[z]}, one.ratings[z]);
  keep_last_ratings(all);
  return all;
}

template void update_users(RatingModel<float>&, Index, std::span<const RatingsOfUser>,
                           const SparseTensor<double>&, const Shrinkage&, const FoldParameters&);
template void update_users(RatingModel<double>&, Index, std::span<const RatingsOfUser>,
                           const SparseTensor<double>&, const Shrinkage&, const FoldParameters&);
template void add_items(RatingModel<float>&, Index, std::span<const RatingsOfItem>,
                        const SparseTensor<double>&, const Shrinkage&, const FoldParameters&);
template void add_items(RatingModel<double>&, Index, std::span<const RatingsOfItem>,
                        const SparseTensor<double>&, const Shrinkage&, const FoldParameters&);

}  // namespace polyad
