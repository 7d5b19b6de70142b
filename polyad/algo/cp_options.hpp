#pragma once

#include <cstdint>
#include <functional>

#include "polyad/base/types.hpp"

namespace polyad {

// How a CP decomposition is computed.
enum class Method {
  als,  // alternating least squares: one factor after the other
  opt   // CP-OPT: all factors at once, by nonlinear optimisation
};

struct CpOptions {
  Index num_components = 16;
  int max_iterations = 50;
  double tolerance = 1e-5;  // stop when the fit changes by less
  std::uint64_t seed = 1;   // of the random start, which is the same on any number of processes
};

struct CpProgress {
  int iteration;  // from 1
  double fit, fit_change;
};

// Called on every process with the same values after each iteration. Returns whether to go on.
using CpObserver = std::function<bool(const CpProgress&)>;

enum class StopReason { converged, iteration_limit, observer };

}  // namespace polyad
