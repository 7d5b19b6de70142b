#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "polyad/algo/cp/cp_result.hpp"
#include "polyad/algo/ratings/completion_progress.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/kernels/cp/row_systems.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"

namespace polyad {

// Options of a model that is fitted to observed cells, or with a background in the loss to all cells by
// weights. The seed, the kind of random start, the number of components and the maximum number of iterations
// are as for other methods; Start::automatic is normal for implicit feedback.
struct ObservedOptions : CpOptions {
  kernels::CellLoss loss;
  // The loss of row i is regularised by (per_rating * cells of the row + per_row) * |factors|^2, and likewise
  // by its own numbers for the square of the bias.
  Shrinkage shrinkage, bias_shrinkage;
  int mode_of_items = -1;  // whose factors have shrinkage.for_items(); -1: none
  // How large values are: regularisation and random start are those of the tensor divided by this, and the
  // model is multiplied by it.
  double unit = 1;
  RatingRange range = {};   // errors are those of values of the model that are clipped to it
  bool has_biases = false;  // a number for every row of every mode is added to the model
  double offset = 0;        // and this number to every value; for CellLoss::Kind::squares
  std::vector<std::vector<double>> start_biases = {};  // [mode][row that this process owns]; empty: zeros
  std::vector<bool> nonnegative = {};                  // [mode]: its factors; empty: none. Not with biases
  // With held-out cells: stop after this number of sweeps in which their error did not fall by 0.01 %, and
  // return the sweep with the lowest. 0: never stop for their sake, and return the last.
  int patience = 3;
  // Begin with sweeps without regularisation in which cells that are not observed count as zeros: less and
  // less, or if they have a background in the loss all the time by that.
  bool approaches = false;
  int cg_steps = 0;  // of conjugate gradients per row and sweep; 0: rows are solved for exactly
  std::vector<int> mode_order = {};  // of the updates in a sweep; empty: 0, 1, ...
  // The GPU that solves for rows and measures; nothing: the processor. For tensors with a tree for every
  // mode, without nonnegative factors and conjugate gradients. Rows whose cells are on several processes are
  // solved for on the processor.
  std::optional<int> gpu = {};
};

// A tensor of which some cells are observed. Rows are solved for fastest where every process holds all cells
// of the rows that it owns, as trees rooted at each mode; in other formats, and where cells of a row are on
// several processes, systems are added up, which takes memory for all of a mode at once.
template <class Real>
struct ObservedTensor {
  const DistTensor<Real>& x;
  std::vector<Array<Real>> weights = {};  // [mode][cell of cells(mode)]: see RowSystems; empty: all are 1

  // The cells that this process has for a mode: by the tree that has it at its root, if there is one.
  kernels::RowSystems<Real> cells(int mode) const;
};

// What a sweep, which updates every factor once, has led to.
struct Sweep {
  int number = 0;        // from 1
  double loss = 0;       // with regularisation: what the sweeps minimise
  double cell_loss = 0;  // the same without regularisation
  // Of value - model over the observed cells that count, and over those held out, if any.
  ErrorFigures train;
  std::optional<ErrorFigures> test;
  double train_squares = 0;  // sum over the observed cells that count
  double seconds = 0;
};
using SweepObserver = std::function<bool(const Sweep&)>;  // called on every process; false: stop

template <class Real>
struct ObservedResult {
  // [mode]: the rows that this process owns. The first columns are factors; with biases, column
  // num_components + m is the bias of mode m, and 1 in the other modes.
  std::vector<Matrix<Real>> factors;
  std::vector<Matrix<double>> grams;  // [mode]: of these, over all processes
  std::vector<Sweep> sweeps;
  int best_sweep = 0;  // that the factors are of; 0: they are random
  StopReason stop = StopReason::iteration_limit;
  Communication communication;
  Timings timings;
};

// Fits sums of rank-one components to the observed cells of a tensor by alternating least squares: each row
// solves a system of its own (docs/algorithms.md). Deterministic; up to rounding, it does not depend on the
// number of processes. `start` and `control` as in cp_als. Throws Error{bad_input} if numbers exceed the
// range of Real. Collective.
template <class Real>
ObservedResult<Real> observed_als(const ObservedTensor<Real>& x, const ObservedOptions& options,
                                  const SweepObserver& observe = {}, const Kruskal<Real>* start = nullptr,
                                  const CpControl<Real>& control = {});

}  // namespace polyad
