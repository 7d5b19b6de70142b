#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/tensor/generate/generate.hpp"
#include "tests/support/cp_cases.hpp"

namespace polyad::test {

// A small tensor of a known rank, some with noise, and options with one to three times as many
// components. The systems of least squares become singular as the fit nears one.
struct Overfactored {
  explicit Overfactored(int n) {
    const std::vector<Index> shapes[] = {{12, 10, 8}, {9, 7},          {6, 5, 4, 3},
                                         {7, 1, 9},   {4, 3, 3, 2, 3}, {2, 3, 2, 2, 3, 2}};
    const auto seed = std::uint64_t(n);
    rank = 1 + Index(Random(seed, 1).below(4, 0));
    const auto& dims = shapes[Random(seed, 1).below(std::size(shapes), 1)];
    Index num_places = 1;
    for (const Index extent : dims) num_places *= extent;
    const double noise = n % 3 == 0 ? 0.1 : 0;
    const Index num_nonzeros = n % 2 == 0 ? num_places : std::max<Index>(rank, num_places / 2);
    tensor = generate_planted({.dims = dims,
                               .num_nonzeros = num_nonzeros,
                               .num_components = rank,
                               .noise = noise,
                               .seed = seed + 1})
                 .tensor;
    const Index num_components = rank + Index(Random(seed, 1).below(std::uint64_t(2 * rank + 1), 2));
    options.als = {{num_components, 25, 0, seed + 1}};
  }

  std::string describe() const {
    std::string text = "rank " + std::to_string(rank) + ", " + std::to_string(options.als.num_components) +
                       " components, seed " + std::to_string(options.als.seed) + ", dims";
    for (const Index extent : tensor.extents()) text += " " + std::to_string(extent);
    return text;
  }

  Index rank;
  SparseTensor<double> tensor{{1, 1}};
  CpRunOptions options;
};

// Of the squared residual relative to the squared norm, from one iteration to the next.
inline double largest_rise(const std::vector<double>& fits) {
  double largest = 0;
  for (std::size_t i = 1; i < fits.size(); ++i)
    largest = std::max(largest, squared_residual(fits[i]) - squared_residual(fits[i - 1]));
  return largest;
}

// The same of the models themselves: |X - model| is added up place by place after each iteration. The fit
// that is reported comes from Gram matrices, which large components that cancel each other make less exact.
inline double largest_true_rise(const SparseTensor<double>& x, CpRunOptions options) {
  std::vector<double> fits;
  const int num_iterations = options.als.max_iterations;
  for (options.als.max_iterations = 1; options.als.max_iterations <= num_iterations;
       ++options.als.max_iterations)
    fits.push_back(plain_fit(x, decompose(x, options).model));
  return largest_rise(fits);
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    largest = std::max(largest, std::abs(squared_residual(a[i]) - squared_residual(b[i])));
  return largest;
}

}  // namespace polyad::test
