#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "polyad/algo/cp/run_cp.hpp"
#include "tests/support/gathered_rows.hpp"
#include "tests/support/generated.hpp"

namespace polyad::test {

struct Decomposed {
  Kruskal<double> model;  // with a row for every index
  std::vector<double> fits;
  StopReason stop = StopReason::iteration_limit;
  double max_condition = 1;

  double fit() const { return fits.back(); }
};

template <class Real = double>
Decomposed decompose(const SparseTensor<double>& x, const CpRunOptions& options) {
  Progress silent;
  const auto prepared = prepare<Real>(Comm::self(), x, options, silent);
  auto result = run_cp<Real>(prepared, options);
  const auto model = gather_rows(prepared.tensor, std::move(result.model));
  return {with_all_rows(model, x.extents()), result.fit_trajectory, result.stop, result.max_condition};
}

// What process 0 alone finds, of which the others get the numbers without the model: the work is done once,
// however many processes share the cores. Collective.
inline Decomposed decompose_once(const Comm& comm, const SparseTensor<double>& x,
                                 const CpRunOptions& options) {
  Decomposed result;
  if (comm.rank() == 0) result = decompose(x, options);
  comm.broadcast(result.fits, 0);
  result.stop = comm.broadcast(result.stop, 0);
  result.max_condition = comm.broadcast(result.max_condition, 0);
  return result;
}

inline CpRunOptions options_for(Index num_components, int iterations, double tolerance = 0,
                                std::uint64_t seed = 1) {
  CpRunOptions options;
  options.als = {{num_components, iterations, tolerance, seed}};
  return options;
}

inline double best_fit(const SparseTensor<double>& x, CpRunOptions options, int num_seeds) {
  double best = -1;
  for (int seed = 1; seed <= num_seeds; ++seed) {
    options.als.seed = std::uint64_t(seed);
    best = std::max(best, decompose(x, options).fit());
  }
  return best;
}

inline double squared(double x) {
  return x * x;
}

// |X - model|^2 / |X|^2.
inline double squared_residual(double fit) {
  return (1 - fit) * (1 - fit);
}

inline void expect_finite(const Kruskal<double>& model) {
  for (const double w : model.weights) ASSERT_TRUE(std::isfinite(w) && w >= 0);
  for (const auto& factor : model.factors)
    for (const double x : factor.flat()) ASSERT_TRUE(std::isfinite(x));
}

}  // namespace polyad::test
