#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "polyad/kernels/analysis/factor_match.hpp"
#include "polyad/kernels/analysis/kruskal_values.hpp"
#include "polyad/tensor/generate/generate.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/factor_problem.hpp"

namespace polyad::test {

// What every method for a CP decomposition must get right.

// What |X - model| is when it is added up place by place.
inline double plain_fit(const SparseTensor<double>& x, const Kruskal<double>& model) {
  std::vector<Index> at(x.extents().size(), 0);
  double norm = 0, rest = 0;
  SparseTensor<double> sorted = x;
  sort_nonzeros(sorted, natural_mode_order(x.order()));
  merge_duplicates(sorted);
  Index z = 0;
  for (bool more = true; more;) {
    double value = 0;
    if (z < sorted.num_nonzeros() && coordinates(sorted, z) == at) value = sorted.values()[z++];
    norm += value * value;
    const double difference = value - kernels::ref::entry<double>(model, at);
    rest += difference * difference;
    more = false;
    for (int m = x.order() - 1; m >= 0 && !more; --m) {
      more = ++at[m] < x.extent(m);
      if (!more) at[m] = 0;
    }
  }
  return norm == 0 ? 1 : 1 - std::sqrt(rest / norm);
}

// Plants five components and expects that the best of several starts finds them; inspect(result) sees each.
// The seed of the options is not used.
template <class Inspect>
void expect_recovery(const std::vector<Index>& dims, CpRunOptions options, int num_seeds, Inspect inspect) {
  const auto planted =
      generate_planted({.dims = dims, .num_nonzeros = 8000, .num_components = 5, .noise = 0.01, .seed = 4});
  double best_fit = -1, score = 0;
  for (int seed = 1; seed <= num_seeds; ++seed) {
    options.als.seed = std::uint64_t(seed);
    const auto result = decompose(planted.tensor, options);
    inspect(result);
    if (result.fit() <= best_fit) continue;
    best_fit = result.fit();
    score = kernels::factor_match_score(result.model, planted.truth);
  }

  EXPECT_GT(score, 0.99) << "order " << dims.size();
  EXPECT_GT(best_fit, 0.97) << "order " << dims.size();
}
inline void expect_recovery(const std::vector<Index>& dims, const CpRunOptions& options, int num_seeds) {
  expect_recovery(dims, options, num_seeds, [](const Decomposed&) {});
}

// Tensors with next to nothing in them.
struct DegenerateTensors {
  DegenerateTensors() {
    zeros.append(std::vector<Index>{1, 2, 3}, 0.0);
    one.append(std::vector<Index>{7, 8, 9}, -2.5);
    single.append(std::vector<Index>{0, 0, 0}, 3.0);
    for (Index z = 0; z < 24; ++z) equal.append(std::vector<Index>{z / 6, z / 2 % 3, z % 2}, 1.0);
  }
  std::vector<const SparseTensor<double>*> all() const {
    return {&zeros, &one, &single, &flat, &equal, &empty};
  }

  SparseTensor<double> zeros{{3, 4, 5}}, one{{30, 40, 50}}, single{{1, 1, 1}}, empty{{3, 4, 5}};
  SparseTensor<double> equal{{4, 3, 2}};  // all ones: all components have the same columns
  SparseTensor<double> flat = tame_tensor({20, 1, 30}, 100, 1);
};

template <class Real>
void expect_finite_and_fits_at_most_one(const SparseTensor<double>& x, const CpRunOptions& options) {
  const auto result = decompose<Real>(x, options);
  expect_finite(result.model);
  for (const double fit : result.fits) EXPECT_LE(fit, 1) << options.format;
}

inline void expect_sensible(const DegenerateTensors& x, const CpRunOptions& options) {
  for (const auto* tensor : x.all()) {
    expect_finite_and_fits_at_most_one<double>(*tensor, options);
    expect_finite_and_fits_at_most_one<float>(*tensor, options);
  }
  const auto zeros = decompose(x.zeros, options), one = decompose(x.one, options);
  EXPECT_EQ(zeros.fit(), 1);
  EXPECT_EQ(zeros.model.weights, std::vector<double>(std::size_t(options.als.num_components), 0.0));
  EXPECT_EQ(decompose(x.empty, options).fit(), 1);
  EXPECT_NEAR(one.fit(), 1, 1e-6) << options.format << options.als.num_components;
  EXPECT_NEAR(kernels::ref::entry<double>(one.model, std::vector<Index>{7, 8, 9}), -2.5, 1e-6);
  EXPECT_NEAR(decompose(x.single, options).fit(), 1, 1e-6);
  EXPECT_NEAR(decompose(x.equal, options).fit(), 1, 1e-6);
}

}  // namespace polyad::test
