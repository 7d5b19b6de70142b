#pragma once

#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::test {

struct RatingShape {
  Index users = 1, items = 1, factors = 1, ratings = 1;
};

// Odd shapes: one of everything, fewer items than any vector has lanes, many factors.
inline std::vector<RatingShape> rating_shapes() {
  return {{1, 1, 1, 1}, {3, 7, 2, 5}, {5, 1, 37, 3}, {40, 33, 8, 200}, {7, 700, 3, 60}, {300, 20, 37, 900}};
}

enum class Biases { with, without };
// Small whole numbers make sums exact and ties frequent.
enum class Entries { whole, normal };

template <class Real>
RatingModel<Real> random_rating_model(const RatingShape& shape, Biases biases, Entries entries,
                                      std::uint64_t seed) {
  const Random random(seed, 7);
  std::uint64_t next = 0;
  const auto entry = [&] {
    ++next;
    return entries == Entries::whole ? Real(Index(random.below(3, next)) - 1) : Real(random.normal(next));
  };
  RatingModel<Real> model{0, {shape.users, shape.factors}, {shape.items, shape.factors}, {}, {}};
  for (auto* matrix : {&model.users, &model.items})
    for (Real& x : matrix->flat()) x = entry();
  if (biases == Biases::without) return model;
  model.mean = 3.5;
  for (Index i = 0; i < shape.users; ++i) model.user_biases.push_back(entry());
  for (Index i = 0; i < shape.items; ++i) model.item_biases.push_back(entry());
  return model;
}

// Distinct or not, in any order; zeros among them.
inline SparseTensor<double> random_ratings(const RatingShape& shape, std::uint64_t seed) {
  SparseTensor<double> ratings({shape.users, shape.items});
  for (std::uint64_t z = 0; z < std::uint64_t(shape.ratings); ++z)
    ratings.append(std::vector<Index>{Index(Random(seed, 1).below(std::uint64_t(shape.users), z)),
                                      Index(Random(seed, 2).below(std::uint64_t(shape.items), z))},
                   double(Random(seed, 3).below(11, z)) / 2);
  return ratings;
}

}  // namespace polyad::test
