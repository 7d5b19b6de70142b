#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "polyad/algo/cp/cp_options.hpp"
#include "polyad/algo/cp/cp_state.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/distributed/routed_exchange.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad {

// Types shared by the methods of CP decomposition.

// Communication of one round of folds and expands of all modes: counted, and computed
// from the distribution. A round is an iteration of cp_als or an evaluation of cp_opt.
struct Communication {
  Index volume_words = 0, messages = 0;          // sent by all processes
  Index max_volume_words = 0, max_messages = 0;  // sent by the process that sends the most
  Index predicted_volume_words = 0;
  Index all_reduced_words = 0;  // of replicated modes, contributed by each process; not part of the volume
  // What all processes send in a stage of a mode whose rows go in stages; part of the above.
  struct Stage {
    int mode = 0, stage = 0;
    Index words = 0, messages = 0, max_messages = 0;
  };
  std::vector<Stage> stages = {};
};

// [mode][stage]: what a process has sent; one stage where rows go directly.
using StagedTraffic = std::vector<std::vector<Traffic>>;
StagedTraffic operator-(StagedTraffic a, const StagedTraffic& b);

template <class Real>
struct CpResult {
  // The rows that this process owns. Columns have 2-norm 1 and weights descend; a
  // component that vanished has weight zero and zero columns. In every mode except
  // the first that may be negative, the largest entry of a column is positive.
  Kruskal<Real> model;
  // Of a model with biases: see CpBiases. Its last components are the mean and the biases.
  std::optional<double> mean = {};
  std::vector<std::vector<double>> empty_rows = {};  // [mode]: row of slices without cells; empty: zeros
  std::vector<double> fit_trajectory;                // [iteration]: 1 - |X - model| / |X|
  std::vector<double> held_out_rmse;      // [iteration], of cells that were held out; empty where none were
  double held_out_rmse_of_mean = 0;       // of the mean of the others in place of a model, at these cells
  int model_iteration = 0;                // iteration of the model, from 1: the last, or the best
  std::vector<double> iteration_seconds;  // [iteration]
  StopReason stop = StopReason::iteration_limit;
  double max_condition = 1;  // largest condition number in ALS, for unit diagonals
  Index device_bytes = 0;  // that an iteration of ALS reads and writes on a GPU, at most; 0: on the processor
  int evaluations = 0;     // of objective and gradient; 0 for ALS
  // Of implicit feedback: the weighted norm of the preferences, to which the fit refers instead of |X|.
  std::optional<double> weighted_norm = {};
  Communication communication;
  Timings timings;

  int iterations() const { return int(fit_trajectory.size()); }
  double fit() const { return model_iteration == 0 ? 0 : fit_trajectory[model_iteration - 1]; }
};

// The fit, given |X - model|^2 / |X|^2, which rounding may make negative. Throws
// Error{bad_input} if it is NaN, because numbers have exceeded the range of Real.
template <class Real>
double fit_from(double squared_residual);

struct Iteration {
  double fit;            // at its end
  double rounding = 0;   // rounding error of |X - model|^2 / |X|^2
  bool is_last = false;  // no further progress is possible
  RunRequests asked = {};
};

// A method: how to begin, reproducibly, and one iteration; and its state between iterations.
template <class Real>
struct CpMethod {
  std::function<void()> begin;
  std::function<Iteration()> iterate;
  std::function<void(CpState<Real>&)> save = {};       // adds it
  std::function<void(CpRestart<Real>&)> restore = {};  // of a method that has begun
};

// Runs a method that has begun, until the iteration limit, until the fit no longer
// changes or until the observer stops it. Records the trajectory, times and reason. The
// fit should not decrease except by rounding; if it does, the method is begun again and
// stopped at the iteration with the best fit, so that no copies of models are needed; not if it was cut
// short. A signal on the way there ends it where it is.
template <class Real>
void iterate(CpResult<Real>& result, const CpOptions& options, const CpObserver& observe,
             const CpMethod<Real>& method, const CpControl<Real>& control = {});

// What must be sent in a round: words by all processes; and by this one in every stage, [mode][stage], empty
// for modes whose rows go directly.
struct PlannedTraffic {
  Index words = 0;
  StagedTraffic stages = {};
};
// Communication of a round, from what this process has sent in all of them. Throws
// Error{internal} if this differs from what follows from the distribution. Collective.
Communication check_traffic(const Comm& comm, const StagedTraffic& sent, int rounds,
                            const PlannedTraffic& planned);
// Of every stage, for partial sums and for rows of so many words.
template <class Real>
StagedTraffic planned_stages(const DistTensor<Real>& x, Index words_of_sum, Index words_of_row) {
  StagedTraffic planned(std::size_t(x.order()));
  for (int m = 0; m < x.order(); ++m)
    for (const auto& stage : x.exchange(m).stages)
      planned[m].push_back({stage.rows_folded() * words_of_sum + stage.rows_expanded() * words_of_row,
                            stage.messages_sent(), 0});
  return planned;
}

// Makes the rows of all modes known to the processes that borrow them. Collective.
template <class Real>
void expand_all(std::vector<RoutedExchange<Real>>& exchanges) {
  for (auto& exchange : exchanges) {
    exchange.start_expanding();
    exchange.finish_expanding();
  }
}

// What all modes have sent so far.
template <class Real>
StagedTraffic sent_by(const std::vector<RoutedExchange<Real>>& exchanges) {
  StagedTraffic sent;
  for (const auto& exchange : exchanges) sent.push_back(exchange.sent_by_stage());
  return sent;
}

}  // namespace polyad
