#include "polyad/kernels/analysis/kruskal_values.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "polyad/base/random.hpp"
#include "polyad/kernels/analysis/residual_sums.hpp"
#include "tests/support/dense_planted.hpp"

namespace polyad::kernels {
namespace {

// A random model and coordinates in it.
template <class Real>
struct Problem {
  Problem(const std::vector<Index>& dims, Index num_components, Index count, std::uint64_t seed) {
    const Random entries(seed, 1);
    std::uint64_t next = 0;
    for (Index r = 0; r < num_components; ++r) model.weights.push_back(std::exp(5 * entries.normal(next++)));
    for (const Index dim : dims) {
      model.factors.emplace_back(dim, num_components);
      for (Real& x : model.factors.back().flat()) x = Real(entries.normal(next++));
    }
    for (std::size_t m = 0; m < dims.size(); ++m) {
      indices.emplace_back();
      for (Index z = 0; z < count; ++z)
        indices.back().push_back(Index(Random(seed, 2 + m).below(std::uint64_t(dims[m]), std::uint64_t(z))));
    }
    for (const auto& column : indices) coordinates.emplace_back(column);
  }

  std::vector<Index> coordinate(Index z) const {
    std::vector<Index> result;
    for (const auto& column : indices) result.push_back(column[z]);
    return result;
  }

  Kruskal<Real> model;
  std::vector<std::vector<Index>> indices;
  std::vector<std::span<const Index>> coordinates;
};

const std::vector<std::vector<Index>> value_shapes{
    {7}, {3, 5}, {1, 1}, {4, 1, 30}, {20, 1, 30, 4}, {2, 3, 4, 5, 6}, {3, 2, 1, 2, 3, 2}};

template <class Real>
void expect_definition() {
  std::uint64_t seed = 0;
  for (const auto& dims : value_shapes)
    for (const Index num_components : {1, 2, 16, 32, 37, 70})
      for (const Index count : {0, 1, 200}) {
        const Problem<Real> p(dims, num_components, count, ++seed);
        std::vector<double> values(std::size_t(count), -1.0), sums = values;
        Matrix<double> contributions(count, num_components);

        evaluate(p.model, Coordinates(p.coordinates), std::span(values));
        evaluate_components(p.model, Coordinates(p.coordinates), contributions);
        add_components(contributions, sums);

        for (Index z = 0; z < count; ++z)
          ASSERT_EQ(values[z], ref::entry<Real>(p.model, p.coordinate(z)))
              << "order " << dims.size() << " seed " << seed;
        ASSERT_EQ(values, sums);
      }
}

TEST(KruskalValues, are_the_definition_in_double) {
  expect_definition<double>();
}

TEST(KruskalValues, are_the_definition_of_single_factors) {
  expect_definition<float>();
}

TEST(KruskalValues, do_not_vanish_when_many_small_single_factors_are_multiplied) {
  Kruskal<float> model{{1e60}, {}};
  std::vector<std::vector<Index>> indices(16, {0});
  for (int m = 0; m < 16; ++m) {
    model.factors.emplace_back(1, 1);
    model.factors.back()(0, 0) = 1e-5F;
  }
  const std::vector<std::span<const Index>> coordinates(indices.begin(), indices.end());
  std::vector<double> value(1);
  evaluate(model, Coordinates(coordinates), std::span(value));
  EXPECT_NEAR(value[0] / 1e-20, 1, 1e-5);
}

TEST(ValuesAt, cells_are_sums_of_products) {
  for (const auto& shape : test::problem_shapes())
    for (const Index n : {1, 5, 37}) {
      const auto compacted = compact<double>(test::tame_tensor(shape.extents, shape.num_nonzeros, 2));
      const auto model = test::random_model(compacted.tensor.extents(), n, 3);

      const auto values = values_at(model, compacted.tensor, 4);

      for (Index z = 0; z < compacted.tensor.num_nonzeros(); ++z) {
        std::vector<Index> at;
        for (int m = 0; m < compacted.tensor.order(); ++m) at.push_back(compacted.tensor.indices(m)[z]);
        ASSERT_NEAR(values[z], ref::entry<double>(model, at) / 4, 1e-9);
      }
    }
}

TEST(ResidualSums, equal_plain_sums_whatever_the_parts) {
  const Random random(3, 0);
  for (const Index count : {0, 1, 2, 100, 1001}) {
    std::vector<double> numbers;
    double squares = 0, sum = 0;
    for (Index z = 0; z < count; ++z) {
      numbers.push_back(random.normal(std::uint64_t(z)) *
                        std::exp(5 * random.normal(std::uint64_t(z + 5000))));
      squares += numbers.back() * numbers.back();
      sum += std::abs(numbers.back());
    }
    const auto part = std::span(numbers).first(std::size_t(count / 3));
    for (const auto& m :
         {measure(numbers), merge(measure(part), measure(std::span(numbers).subspan(part.size())))}) {
      EXPECT_EQ(m.count, count);
      EXPECT_NEAR(m.norm(), std::sqrt(squares), 1e-12 * std::sqrt(squares));
      EXPECT_NEAR(m.mean() * double(count), sum, 1e-12 * sum);
      EXPECT_NEAR(m.root_mean_square() * std::sqrt(double(count)), std::sqrt(squares),
                  1e-12 * std::sqrt(squares));
    }
  }
}

TEST(ResidualSums, take_the_squares_of_the_largest_and_smallest_numbers) {
  EXPECT_DOUBLE_EQ(measure(std::vector{3e300, -4e300}).norm(), 5e300);
  EXPECT_DOUBLE_EQ(measure(std::vector{3e-300, -4e-300}).norm(), 5e-300);
  EXPECT_DOUBLE_EQ(measure(std::vector{1.5e308, -1.5e308}).mean(), 1.5e308);
  EXPECT_EQ(measure(std::vector{0.0, 0.0}).root_mean_square(), 0);
  EXPECT_EQ(merge(measure(std::vector<double>{}), measure(std::vector{0.0})).count, 1);
}

TEST(ResidualSums, find_the_largest_and_among_equals_the_first) {
  const std::vector<double> numbers{1, -5, 2, 5, 0, -2};
  EXPECT_EQ(largest_places(numbers, 3), (std::vector<Index>{1, 3, 2}));
  EXPECT_EQ(largest_places(numbers, 4), (std::vector<Index>{1, 3, 2, 5}));
  EXPECT_EQ(largest_places(numbers, 100).size(), 6);
  EXPECT_TRUE(largest_places(numbers, 0).empty());
}

TEST(ResidualSums, find_what_is_no_number) {
  EXPECT_EQ(first_not_finite(std::vector{1.0, 2.0}), -1);
  EXPECT_EQ(first_not_finite(std::vector<double>{1.0, std::nan(""), INFINITY}), 1);
}

}  // namespace
}  // namespace polyad::kernels
