#include "polyad/algo/recommend.hpp"

#include <algorithm>

#include "polyad/tensor/slice_counts.hpp"

namespace polyad {

template <class Real>
Recommender<Real>::Recommender(const RatingModel<Real>& model, const SparseTensor<double>& ratings)
    : model_(model),
      rated_(group_by_user(ratings)),
      candidates_(count_slices(ratings.indices(1), ratings.extent(1)).slices),
      scale_(kernels::rating_scale(ratings.values(), model.mean)) {}

template <class Real>
bool Recommender<Real>::is_rated(Index item) const {
  return std::ranges::binary_search(candidates_, item);
}

template <class Real>
std::vector<Index> Recommender<Real>::users_with_ratings() const {
  std::vector<Index> users;
  for (Index user = 0; user < model_.num_users(); ++user)
    if (num_rated_by(user) > 0) users.push_back(user);
  return users;
}

template <class Real>
std::vector<ScoredItems> Recommender<Real>::recommend(std::span<const Index> users, Index count,
                                                      Rated rated) const {
  const auto* excluded = rated == Rated::left_out ? &rated_ : nullptr;
  return top_items(model_, kernels::gather_users(model_, users, excluded), candidates_, count);
}

template <class Real>
Index Recommender<Real>::batch_size(Index count) {
  constexpr Index max_items = Index(1) << 20, max_users = 8192;
  return std::clamp<Index>(max_items / std::max<Index>(count, 1), 1, max_users);
}

template <class Real>
ScoredItems Recommender<Real>::recommend_to(const NewUser& user, Index count, Rated rated) const {
  const auto folded = kernels::fold_in_user<Real>(model_, {user.items, user.ratings, user.shrinkage, scale_});
  kernels::UserRows<Real> rows{{1, model_.num_factors()}, {model_.mean + folded.bias}, {}};
  std::ranges::copy(folded.row, rows.rows.row(0).begin());
  if (rated == Rated::left_out) rows.excluded.push_back(user.items);
  return top_items(model_, rows, candidates_, count)[0];
}

template <class Real>
ScoredItems Recommender<Real>::similar(Index item, Index count) const {
  return kernels::similar_items(model_.items, item, candidates_, count);
}

template class Recommender<float>;
template class Recommender<double>;

}  // namespace polyad
