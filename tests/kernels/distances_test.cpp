#include "polyad/kernels/distances.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "polyad/kernels/kruskal_values.hpp"
#include "tests/support/dense_planted.hpp"

namespace polyad {
namespace {

TEST(ValuesAt, cells_are_sums_of_products) {
  for (const auto& shape : test::problem_shapes())
    for (const Index n : {1, 5, 37}) {
      const auto compacted = compact<double>(test::tame_tensor(shape.extents, shape.num_nonzeros, 2));
      const auto model = test::random_model(compacted.tensor.extents(), n, 3);

      const auto values = values_at(model, compacted.tensor, 4);

      for (Index z = 0; z < compacted.tensor.num_nonzeros(); ++z) {
        std::vector<Index> at;
        for (int m = 0; m < compacted.tensor.order(); ++m) at.push_back(compacted.tensor.indices(m)[z]);
        ASSERT_NEAR(values[z], test::value_at(model, at) / 4, 1e-9);
      }
    }
}

TEST(Distances, are_absolute_and_relative) {
  const std::vector<double> a{3, 4, 1}, b{0, 4, 5}, zero{0, 0, 0};
  EXPECT_DOUBLE_EQ(distance(a, b), 5);
  EXPECT_DOUBLE_EQ(relative_distance(a, b), 5 / std::sqrt(41.0));
  EXPECT_EQ(relative_distance(zero, zero), 0);
  EXPECT_EQ(relative_distance(a, zero), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace polyad
