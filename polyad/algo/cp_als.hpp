#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "polyad/base/timings.hpp"
#include "polyad/dist/dist_tensor.hpp"
#include "polyad/kernels/als_plan.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad {

struct CpAlsOptions {
  Index num_components = 16;
  int max_iterations = 50;
  double tolerance = 1e-5;  // stop when the fit moves by less
  std::uint64_t seed = 1;   // the same start on any number of processes
  // [mode]: whether its factor must have no negative entry; empty: none must. Such modes are updated by
  // coordinate descent from where they are (HALS) instead of solving for the least squares.
  std::vector<bool> nonnegative = {};
};

struct CpAlsProgress {
  int iteration;
  double fit, fit_change;
};

// Called on every process with the same values after each iteration; false stops the run.
using CpAlsObserver = std::function<bool(const CpAlsProgress&)>;

// What fold and expand sent in an iteration: counted, and as the distribution says.
struct Communication {
  Index volume_words = 0, messages = 0;          // of all processes
  Index max_volume_words = 0, max_messages = 0;  // of the process that sent most
  Index predicted_volume_words = 0;
  Index all_reduced_words = 0;  // rows of replicated modes, on each process; apart from the others
};

enum class StopReason { converged, iteration_limit, observer };

template <class Real>
struct CpAlsResult {
  // The rows that this process owns. Columns have 2-norm 1 and weights descend; a component that vanished has
  // weight zero and zero columns. In every mode but the first that may be negative, the largest entry of a
  // column is positive.
  Kruskal<Real> model;
  std::vector<double> fit_trajectory;     // [iteration]: 1 - |X - model| / |X|
  std::vector<double> iteration_seconds;  // [iteration]
  StopReason stop = StopReason::iteration_limit;
  Communication communication;
  Timings timings;

  int iterations() const { return int(fit_trajectory.size()); }
  double fit() const { return fit_trajectory.empty() ? 0 : fit_trajectory.back(); }
};

// The CP decomposition by alternating least squares (ALGORITHMS, section 1). The trajectory depends on the
// tensor, the options and the plan's mode order, and but for rounding on nothing else; every process may
// have a plan of its own, with the same mode order. With `start`, the rows that this process owns of a model
// with as many components, it goes on from there instead of from random numbers. Throws Error{bad_input} when
// numbers leave the range of Real, and Error{internal} when more or less was sent than the distribution says.
// Collective.
template <class Real>
CpAlsResult<Real> cp_als(const DistTensor<Real>& x, const AlsPlan& plan, const CpAlsOptions& options,
                         const CpAlsObserver& observe = {}, const Kruskal<Real>* start = nullptr);

}  // namespace polyad
