#include "polyad/tensor/held_out.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "polyad/tensor/sort.hpp"
#include "polyad/tensor/value_places.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/generated.hpp"
#include "tests/support/random_tensor.hpp"

namespace polyad {
namespace {

struct Sample {
  Sample(const SparseTensor<double>& tensor, double fraction, std::uint64_t seed = 1)
      : x(compact<double>(tensor)),
        held_out(hold_out(x, natural_mode_order(tensor.order()), fraction, seed)) {}

  std::vector<Index> cell(Index k) const {
    std::vector<Index> at;
    for (int m = 0; m < x.tensor.order(); ++m) at.push_back(held_out.cells.indices(m)[k]);
    return at;
  }

  CompactTensor<double> x;
  HeldOut held_out;
};

SparseTensor<double> box(Index rows, Index cols) {
  SparseTensor<double> x({rows, cols});
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x.append(std::vector<Index>{i, j}, double(1 + i * cols + j));
  return x;
}

TEST(HeldOut, has_distinct_nonzeros_with_their_values_and_distinct_zeros) {
  for (const auto& shape : test::problem_shapes())
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Sample sample(test::tame_tensor(shape.extents, shape.num_nonzeros, seed, shape.heavy), 0.1, seed);
      const auto& [x, held_out] = sample;
      const auto natural = natural_mode_order(x.tensor.order());
      std::set<std::vector<Index>> seen;
      for (Index k = 0; k < held_out.cells.num_nonzeros(); ++k) {
        const Index z = find_nonzero<double, LocalIndex>(x.tensor, natural, sample.cell(k));
        ASSERT_EQ(z, k < held_out.num_nonzeros() ? held_out.nonzeros[k] : -1);
        ASSERT_EQ(held_out.cells.values()[k], z < 0 ? 0 : x.tensor.values()[z]);
        ASSERT_TRUE(seen.insert(sample.cell(k)).second);
      }
      const Index wanted = std::max<Index>(1, std::llround(0.1 * double(x.tensor.num_nonzeros())));
      EXPECT_EQ(held_out.num_nonzeros(), wanted);
      double cells = 1;
      for (const Index extent : x.tensor.extents()) cells *= double(extent);
      const Index of_zeros = std::llround(0.1 * (cells - double(x.tensor.num_nonzeros())));
      EXPECT_EQ(held_out.num_zeros(), std::min(wanted, of_zeros));
    }
}

TEST(HeldOut, has_as_many_zeros_as_nonzeros_unless_the_tensor_is_nearly_full) {
  const Sample sparse(test::tame_tensor({300, 200, 40}, 5000, 1), 0.05);
  EXPECT_EQ(sparse.held_out.num_zeros(), sparse.held_out.num_nonzeros());
  const Sample full(box(30, 20), 0.1);
  EXPECT_EQ(full.held_out.num_nonzeros(), 60);
  EXPECT_EQ(full.held_out.num_zeros(), 0);
  auto nearly = box(30, 20);
  nearly.resize(500);
  EXPECT_EQ(Sample(nearly, 0.1).held_out.num_zeros(), 0);  // the last five rows are empty slices
  EXPECT_EQ(Sample(box(1, 1), 0.1).held_out.num_nonzeros(), 1);
}

TEST(HeldOut, does_not_depend_on_values_but_on_the_seed) {
  auto x = test::tame_tensor({30, 20, 10}, 500, 1);
  const Sample one(x, 0.1), other_seed(x, 0.1, 2);
  for (double& value : x.values()) value = -3 * value + 1;
  const Sample other_values(x, 0.1);

  EXPECT_EQ(one.held_out.nonzeros, other_values.held_out.nonzeros);
  EXPECT_NE(one.held_out.nonzeros, other_seed.held_out.nonzeros);
  for (Index k = 0; k < one.held_out.cells.num_nonzeros(); ++k) ASSERT_EQ(one.cell(k), other_values.cell(k));
}

TEST(HeldOut, knows_the_mean_and_the_norm_of_the_rest) {
  const Sample sample(box(7, 5), 0.2);
  double sum = 35.0 * 36 / 2, squares = 35.0 * 36 * 71 / 6;
  for (const double value : sample.held_out.cells.values()) {
    sum -= value;
    squares -= value * value;
  }
  EXPECT_NEAR(sample.held_out.known_mean, sum / 28, 1e-12);
  EXPECT_NEAR(sample.held_out.known_squared_norm, squares, 1e-9);
}

TEST(HeldOut, expands_to_what_was_compact) {
  for (const auto& extents : test::odd_shapes()) {
    auto x = test::random_tensor(extents, 200, 3);
    sort_nonzeros(x, natural_mode_order(x.order()));
    merge_duplicates(x);
    EXPECT_EQ(expand(compact<double>(x)), x);
  }
}

TEST(HeldOut, hides_values_behind_the_mean) {
  const Sample sample(test::tame_tensor({30, 20, 10}, 500, 1), 0.1);
  const auto& held_out = sample.held_out;

  const auto hidden = compact<double>(expand_without(sample.x, held_out));

  ASSERT_EQ(hidden.rows, sample.x.rows);
  EXPECT_EQ(hidden.num_duplicates, 0);
  EXPECT_EQ(hidden.tensor.num_nonzeros(), sample.x.tensor.num_nonzeros() + held_out.num_zeros());
  const auto natural = natural_mode_order(3);
  for (Index k = 0; k < held_out.cells.num_nonzeros(); ++k) {
    const Index z = find_nonzero<double, LocalIndex>(hidden.tensor, natural, sample.cell(k));
    ASSERT_GE(z, 0);
    ASSERT_EQ(hidden.tensor.values()[z], held_out.known_mean);
  }
}

template <class Real>
std::vector<Array<Real>> all_values(const LocalTensor<Real>& x) {
  std::vector<Array<Real>> values;
  if (const auto* csf = std::get_if<CsfTensor<Real>>(&x))
    for (const auto& tree : csf->trees) values.emplace_back(tree.values().begin(), tree.values().end());
  if (const auto* coo = std::get_if<CooTensor<Real>>(&x))
    values.emplace_back(coo->tensor.values().begin(), coo->tensor.values().end());
  if (const auto* hicoo = std::get_if<HicooTensor<Real>>(&x)) values.push_back(hicoo->values);
  return values;
}

TEST(ValuePlaces, change_values_as_building_from_changed_values_would) {
  for (const auto& shape : test::problem_shapes()) {
    const auto x = test::tame_tensor(shape.extents, shape.num_nonzeros, 5, shape.heavy);
    const auto tensor = compact<float>(x).tensor;
    const auto held_out = Sample(x, 0.3).held_out;
    auto cells = held_out.cells;
    cells.resize(held_out.num_nonzeros());
    auto changed = tensor;
    std::vector<double> values;
    for (Index k = 0; k < held_out.num_nonzeros(); ++k) {
      values.push_back(double(k));
      changed.values()[held_out.nonzeros[k]] = float(2 * k);
    }
    auto formats = test::all_formats(tensor), expected = test::all_formats(changed);
    for (std::size_t f = 0; f < formats.size(); ++f) {
      const ValuePlaces<float> places(formats[f], cells);
      places.assign(formats[f], values, 2);
      ASSERT_EQ(all_values(formats[f]), all_values(expected[f]));
    }
  }
}

}  // namespace
}  // namespace polyad
