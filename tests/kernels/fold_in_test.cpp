#include "polyad/kernels/ratings/fold_in.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/random_ratings.hpp"

namespace polyad::kernels {
namespace {

using test::Biases;
using test::Entries;
using test::random_rating_model;

struct Ratings {
  Ratings(Index num_items, Index count, std::uint64_t seed) {
    for (std::uint64_t z = 0; z < std::uint64_t(count); ++z) {
      items.push_back(Index(Random(seed, 1).below(std::uint64_t(num_items), z)));
      values.push_back(double(Random(seed, 2).below(11, z)) / 2);
    }
  }
  std::vector<Index> items;
  std::vector<double> values;
};

// The loss over one user's ratings as the training sees it: ratings are divided by the scale.
template <class Real>
double loss(const RatingModel<Real>& model, const Ratings& ratings, const Shrinkage& shrinkage, double scale,
            const std::vector<double>& row, double bias) {
  double sum = 0;
  for (std::size_t z = 0; z < ratings.items.size(); ++z) {
    const Index item = ratings.items[z];
    double e = ratings.values[z] - model.mean - bias, size = 0;
    if (model.has_biases()) e -= double(model.item_biases[item]);
    for (std::size_t f = 0; f < row.size(); ++f) {
      e -= row[f] * double(model.items(item, Index(f)));
      size += row[f] * row[f] / scale;
    }
    const Index count = std::ssize(ratings.items);
    sum +=
        (e * e + shrinkage.of_bias(count) * bias * bias) / scale / scale + shrinkage.of_factors(count) * size;
  }
  return sum;
}

TEST(FoldIn, finds_the_least_loss) {
  std::uint64_t seed = 0;
  for (const auto& shape : test::rating_shapes())
    for (const auto biases : {Biases::with, Biases::without})
      for (const Index count : {1, 3, 50})
        for (const double scale : {1.0, 0.2, 3.0}) {
          const auto shrinkage = seed % 2 == 0 ? Shrinkage{0.01, 0.5} : Shrinkage{0.5, 3};
          const auto model = random_rating_model<double>(shape, biases, Entries::normal, ++seed);
          const Ratings ratings(shape.items, count, seed);
          const auto user = fold_in_user<double>(model, {ratings.items, ratings.values, shrinkage, scale});
          std::vector<double> row(user.row.begin(), user.row.end());
          const double least = loss(model, ratings, shrinkage, scale, row, user.bias);
          ASSERT_TRUE(std::isfinite(least));

          // The slope is zero in every direction: steps both ways make it larger, alike.
          constexpr double step = 1e-3;
          const auto expect_least = [&](double& number, const std::function<double()>& of) {
            const double kept = number;
            number = kept + step;
            const double above = of();
            number = kept - step;
            const double below = of();
            number = kept;
            EXPECT_GT(above, least);
            EXPECT_GT(below, least);
            EXPECT_NEAR(above, below, 1e-7 * (1 + least));
          };
          double bias = user.bias;
          for (double& x : row)
            expect_least(x, [&] { return loss(model, ratings, shrinkage, scale, row, bias); });
          if (biases == Biases::with)
            expect_least(bias, [&] { return loss(model, ratings, shrinkage, scale, row, bias); });
          else
            EXPECT_EQ(user.bias, 0);
        }
}

TEST(FoldIn, without_regularisation_enough_exact_ratings_give_the_row_back) {
  const auto model = random_rating_model<double>({1, 60, 5, 1}, Biases::with, Entries::normal, 4);
  Ratings ratings(60, 40, 6);
  for (std::size_t z = 0; z < ratings.items.size(); ++z) {
    ratings.values[z] = model.mean + model.user_biases[0] + model.item_biases[ratings.items[z]];
    for (Index f = 0; f < 5; ++f) ratings.values[z] += model.users(0, f) * model.items(ratings.items[z], f);
  }
  const auto user = fold_in_user<double>(model, {ratings.items, ratings.values, {0, 0}, 1});
  EXPECT_NEAR(user.bias, model.user_biases[0], 1e-9);
  for (Index f = 0; f < 5; ++f) EXPECT_NEAR(user.row[f], model.users(0, f), 1e-9);
}

TEST(FoldIn, without_regularisation_and_with_few_ratings_the_smallest_is_found) {
  const auto model = random_rating_model<float>({1, 9, 37, 1}, Biases::with, Entries::normal, 4);
  const Ratings ratings(9, 2, 8);
  const auto user = fold_in_user<float>(model, {ratings.items, ratings.values, {0, 0}, 1});
  const std::vector<double> row(user.row.begin(), user.row.end());
  EXPECT_NEAR(loss(model, ratings, {0, 0}, 1, row, user.bias), 0, 1e-8);
  for (const double x : row) EXPECT_LT(std::abs(x), 10);
}

TEST(FoldIn, the_scale_of_ratings_is_their_deviation) {
  EXPECT_DOUBLE_EQ(rating_scale(std::vector{1.0, 5.0, 1.0, 5.0}, 3), 2);
  EXPECT_DOUBLE_EQ(rating_scale(std::vector{3.0, -4.0}, 0), std::sqrt(12.5));  // of a plain model
  EXPECT_EQ(rating_scale(std::vector{0.1, 0.1, 0.1}, 0.3 / 3), 1);
  EXPECT_EQ(rating_scale({}, 0), 1);
}

TEST(FoldIn, no_ratings_are_a_user_of_zeros) {
  const auto model = random_rating_model<float>({1, 9, 3, 1}, Biases::with, Entries::normal, 4);
  const auto user = fold_in_user<float>(model, {{}, {}, {}, 1});
  EXPECT_EQ(user.bias, 0);
  for (const float x : user.row) EXPECT_EQ(x, 0);
}

}  // namespace
}  // namespace polyad::kernels
