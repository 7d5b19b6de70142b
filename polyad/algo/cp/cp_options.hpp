#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "polyad/base/types.hpp"

namespace polyad {

// Algorithm of a CP decomposition (docs/algorithms.md).
enum class Method {
  als,  // alternating least squares: one factor after the other
  opt   // CP-OPT: all factors at once, by nonlinear optimisation
};

// The initial factors.
enum class Start {
  automatic,  // the kind that reached better fits on real tensors (docs/cpd.md): uniform for Method::als
              // without nonnegative factors where at most a tenth of the nonzeros is negative; else normal
  uniform,    // random numbers from 0 to 1
  normal,     // standard normal random numbers; their absolute values in factors that must be nonnegative
  svd  // leading left singular vectors of the tensor as a matrix, mode by mode; their absolute values in
       // factors that must be nonnegative; columns beyond their number, and all of further starts, as
       // automatic
};

// "auto", "uniform", "normal", "svd", as the command line calls them; and all of them.
std::string to_string(Start start);
std::span<const Start> all_starts();

struct CpOptions {
  Index num_components = 16;  // number of components (rank of the model)
  int max_iterations = 50;    // maximum number of iterations
  double tolerance =
      1e-5;                // stop when an iteration changes the fit by less than this times the fit; 0: never
  std::uint64_t seed = 1;  // seed of the initial factors, which do not depend on the processes
  Start start = Start::automatic;
};

struct CpProgress {
  int iteration;           // number of the iteration, from 1
  double fit, fit_change;  // fit of the model, and its change in this iteration
  int start = 1;           // number of the random start, from 1
};

// Called on every process with the same values after each iteration. Returns false to stop the run. A task
// stops on all processes when it returns false on any.
using CpObserver = std::function<bool(const CpProgress&)>;

// Why a run ended.
enum class StopReason {
  converged,
  test_error,  // the error of the cells that are held out no longer fell
  iteration_limit,
  observer,
  interrupted,  // a signal asked for it
  time_limit
};

// Whether a run was ended before it had come to its end, as its options and its observer see it.
inline bool is_cut_short(StopReason stop) {
  return stop == StopReason::interrupted || stop == StopReason::time_limit;
}

}  // namespace polyad
