#pragma once

#include <cmath>
#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/kernels/analysis/kruskal_values.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/generated.hpp"

namespace polyad::test {

// Calls fn(coordinates) for every cell of a box, the last mode fastest.
template <class Fn>
void for_each_cell(const std::vector<Index>& extents, Fn fn) {
  std::vector<Index> at(extents.size(), 0);
  for (bool more = true; more;) {
    fn(at);
    more = false;
    for (int m = int(extents.size()) - 1; m >= 0 && !more; --m) {
      more = ++at[m] < extents[m];
      if (!more) at[m] = 0;
    }
  }
}

inline Kruskal<double> random_model(const std::vector<Index>& extents, Index num_components,
                                    std::uint64_t seed) {
  Kruskal<double> model;
  for (Index r = 0; r < num_components; ++r) model.weights.push_back(1 + 0.5 * double(r));
  for (std::size_t m = 0; m < extents.size(); ++m)
    model.factors.push_back(random_matrix<double>(extents[m], num_components, seed + 100 * m));
  return model;
}

// Every cell of a model, with noise relative to the root mean square of the cells.
inline SparseTensor<double> dense_tensor(const std::vector<Index>& extents, const Kruskal<double>& model,
                                         double noise = 0, std::uint64_t seed = 1) {
  SparseTensor<double> x(extents);
  double squares = 0;
  for_each_cell(extents, [&](const std::vector<Index>& at) {
    x.append(at, kernels::ref::entry<double>(model, at));
    squares += x.values().back() * x.values().back();
  });
  const double deviation = noise * std::sqrt(squares / double(x.num_nonzeros()));
  for (Index z = 0; z < x.num_nonzeros(); ++z)
    x.values()[z] += deviation * Random(seed, 999).normal(std::uint64_t(z));
  return x;
}

}  // namespace polyad::test
