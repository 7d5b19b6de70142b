#pragma once

#include <functional>
#include <vector>

#include "polyad/algo/cp_options.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/row_exchange.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad {

// What every method for a CP decomposition is told, and what it gives back.

// What one round of folds and expands of all modes sent: counted, and as the distribution says. A round is an
// iteration of cp_als, or an evaluation of cp_opt.
struct Communication {
  Index volume_words = 0, messages = 0;          // of all processes
  Index max_volume_words = 0, max_messages = 0;  // of the process that sent most
  Index predicted_volume_words = 0;
  Index all_reduced_words = 0;  // rows of replicated modes, on each process; apart from the others
};

template <class Real>
struct CpResult {
  // The rows that this process owns. Columns have 2-norm 1 and weights descend; a component that vanished has
  // weight zero and zero columns. In every mode but the first that may be negative, the largest entry of a
  // column is positive.
  Kruskal<Real> model;
  std::vector<double> fit_trajectory;  // [iteration]: 1 - |X - model| / |X|
  int model_iteration = 0;             // the iteration, from 1, that the model is of: the last, or the best
  std::vector<double> iteration_seconds;  // [iteration]
  StopReason stop = StopReason::iteration_limit;
  double max_condition = 1;  // of the systems that alternating least squares solved, with unit diagonals
  int evaluations = 0;       // of the objective and its gradient; alternating least squares has none
  Communication communication;
  Timings timings;

  int iterations() const { return int(fit_trajectory.size()); }
  double fit() const { return model_iteration == 0 ? 0 : fit_trajectory[model_iteration - 1]; }
};

// The fit, from |X - model|^2 / |X|^2, which may be below zero by rounding. Throws Error{bad_input} where
// that is no number, because numbers have left the range of Real.
template <class Real>
double fit_from(double squared_residual);

struct Iteration {
  double fit;            // that it ended with
  double rounding = 0;   // by which |X - model|^2 / |X|^2 may be wrong
  bool is_last = false;  // nothing is left to gain
};

// A method: how to begin, with what comes out the same each time, and one iteration.
struct CpMethod {
  std::function<void()> begin;
  std::function<Iteration()> iterate;
};

// Runs a method that has begun until the limit, until the fit stands still or until the observer has seen
// enough. Fills in the trajectory, its times and why it ended. No method lets the fit fall but for rounding;
// should it end lower all the same, the method begins again and stops at the iteration with the highest fit,
// so that the best model is returned without having kept a copy of each.
template <class Real>
void iterate(CpResult<Real>& result, const CpOptions& options, const CpObserver& observe,
             const CpMethod& method);

// Of a round, from what this process sent in all of them. What was sent differs from what the distribution
// says by a bug of ours only: throws Error{internal}. Collective.
Communication check_traffic(const Comm& comm, const Traffic& sent, int rounds, Index predicted);

// What all modes have sent so far.
template <class Real>
Traffic sent_by(const std::vector<RowExchange<Real>>& exchanges) {
  Traffic sum;
  for (const auto& exchange : exchanges) sum += exchange.sent();
  return sum;
}

}  // namespace polyad
