#include "polyad/algo/ratings/recommend.hpp"

#include <algorithm>

#include "polyad/base/parallel.hpp"
#include "polyad/tensor/slice_counts.hpp"

namespace polyad {
namespace {

// [row]: number of ratings.
Array<Index> count_ratings(const SparseTensor<double>& ratings, int mode) {
  Array<Index> counts(std::size_t(ratings.extent(mode)), 0);
  for (const Index row : ratings.indices(mode)) ++counts[row];
  return counts;
}

std::vector<bool> positive(const Array<Index>& counts) {
  std::vector<bool> flags;
  for (const Index count : counts) flags.push_back(count > 0);
  return flags;
}

}  // namespace

template <class Real>
Recommender<Real>::Recommender(const RatingModel<Real>& model, const SparseTensor<double>& ratings,
                               const FoldParameters& parameters)
    : model_(model),
      rated_(group_by_user(ratings)),
      rated_items_(count_slices(ratings.indices(1), ratings.extent(1)).slices),
      num_ratings_{count_ratings(ratings, 0), count_ratings(ratings, 1)},
      learned_{positive(num_ratings_[0]), positive(num_ratings_[1])},
      folder_(model, ratings.values(), parameters) {}

template <class Real>
Recommender<Real>::Recommender(const RatingModel<Real>& model, const SparseTensor<double>& ratings,
                               const Learned& learned)
    : Recommender(model, ratings) {
  learned_ = learned;
  rated_items_.clear();
  for (Index item = 0; item < model.num_items(); ++item)
    if (learned_[1][item]) rated_items_.push_back(item);
}

template <class Real>
const kernels::ItemNeighbours* Recommender<Real>::neighbours() const {
  if (!neighbours_) neighbours_ = kernels::neighbours_for(model_, rated_);
  return neighbours_ ? &*neighbours_ : nullptr;
}

template <class Real>
std::vector<Index> Recommender<Real>::users_with_ratings() const {
  std::vector<Index> users;
  for (Index user = 0; user < model_.num_users(); ++user)
    if (learned_[0][user]) users.push_back(user);
  return users;
}

template <class Real>
std::vector<ScoredItems> Recommender<Real>::recommend(std::span<const Index> users,
                                                      const Wanted& wanted) const {
  const auto* excluded = wanted.rated == Rated::left_out ? &rated_ : nullptr;
  auto rows = kernels::gather_users(model_, users, excluded);
  if (const auto* similar = neighbours()) kernels::add_neighbours(rows, *similar, users, rated_);
  return top_items(model_, rows, wanted.candidates, wanted.count);
}

template <class Real>
Index Recommender<Real>::batch_size(Index count) {
  constexpr Index max_items = Index(1) << 20, max_users = 8192;
  return std::clamp<Index>(max_items / std::max<Index>(count, 1), 1, max_users);
}

template <class Real>
std::vector<ScoredItems> Recommender<Real>::recommend_to(std::span<const NewUser> users,
                                                         const Shrinkage& shrinkage,
                                                         const Wanted& wanted) const {
  kernels::UserRows<Real> rows{
      {std::ssize(users), model_.num_factors()}, Array<double>(users.size(), model_.mean), {}};
  parallel_for(std::ssize(users), [&](Index i) {
    const auto& user = users[std::size_t(i)];
    const auto folded = folder_.fold(user.items, user.ratings, shrinkage);
    std::ranges::copy(folded.row, rows.rows.row(i).begin());
    rows.offsets[i] += folded.bias;
  });
  if (wanted.rated == Rated::left_out)
    for (const auto& user : users) rows.excluded.push_back(user.items);
  if (const auto* similar = neighbours()) {
    rows.neighbours = similar;
    for (const auto& user : users) rows.known.push_back({user.items, user.ratings});
  }
  return top_items(model_, rows, wanted.candidates, wanted.count);
}

template <class Real>
SimilarRows Recommender<Real>::similar(RatingSide side, Index row, std::span<const Index> candidates,
                                       double support, Index count) const {
  return kernels::similar_rows(side == RatingSide::user ? model_.users : model_.items, row, candidates,
                               num_ratings_[mode_of(side)], support, count);
}

template class Recommender<float>;
template class Recommender<double>;

}  // namespace polyad
