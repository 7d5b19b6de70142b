#include "polyad/tensor/ratings/rating_kruskal.hpp"

#include <gtest/gtest.h>

#include "polyad/kernels/analysis/kruskal_values.hpp"
#include "polyad/kernels/ratings/top_items.hpp"
#include "tests/support/random_ratings.hpp"

namespace polyad {
namespace {

using test::Biases;
using test::Entries;

template <class Real>
void expect_predictions(double tolerance) {
  for (const auto& shape : test::rating_shapes())
    for (const auto biases : {Biases::with, Biases::without}) {
      const auto model = test::random_rating_model<Real>(shape, biases, Entries::normal, 3);
      const auto k = kruskal_of(model);
      EXPECT_EQ(k.num_components(), shape.factors + (biases == Biases::with ? 2 : 0));
      for (Index user = 0; user < shape.users; ++user)
        for (Index item = 0; item < shape.items; ++item)
          ASSERT_NEAR(kernels::ref::entry<Real>(k, std::vector<Index>{user, item}),
                      kernels::ref::predicted_rating(model, user, item), tolerance);
    }
}

TEST(RatingKruskal, its_entries_are_the_predictions_in_double) {
  expect_predictions<double>(1e-12);
}

TEST(RatingKruskal, its_entries_are_the_predictions_in_single) {
  expect_predictions<float>(1e-6);
}

}  // namespace
}  // namespace polyad
