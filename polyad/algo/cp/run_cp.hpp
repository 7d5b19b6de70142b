#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "polyad/algo/cp/cp_result.hpp"
#include "polyad/algo/cp/prepare_tensor.hpp"

namespace polyad {

// Runs the method that the tensor was prepared for; `start` and `control` as in cp_als. Collective.
template <class Real>
CpResult<Real> run_cp(const PreparedTensor<Real>& x, const CpRunOptions& options,
                      const CpObserver& observe = {}, const Kruskal<Real>* start = nullptr,
                      const CpControl<Real>& control = {});

// Outcome of one of several random starts.
struct StartOutcome {
  std::uint64_t seed = 0;
  double fit = 0;
  int iterations = 0;
};

template <class Real>
struct BestOfStarts {
  CpResult<Real> best;               // with the times of all
  std::vector<StartOutcome> starts;  // as many as were run
  std::uint64_t seed = 0;            // of the best
};

// The same from several random starts, with the seeds als.seed, als.seed + 1, ..., and the result with the
// best fit. No models are kept meanwhile: unless the last is the best, the best is computed once more. An
// observer that stops a run stops them all. With Start::svd, `start_model` is the start of the first only.
// Calls begin(start), from 1, before each. If a run is cut short, its model is the result. Collective.
template <class Real>
BestOfStarts<Real> run_starts(const PreparedTensor<Real>& x, CpRunOptions options, int num_starts,
                              const std::function<void(int)>& begin, const CpObserver& observe,
                              const Kruskal<Real>* start_model = nullptr,
                              const CpControl<Real>& control = {});

}  // namespace polyad
