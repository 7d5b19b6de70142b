#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "polyad/algo/cp/cp_options.hpp"
#include "polyad/algo/run_state.hpp"
#include "polyad/kernels/cp/factor_vectors.hpp"

namespace polyad {

// The state of a run between two iterations: what it needs to go on as if it had not been interrupted, with
// the same bits on the same layout. Factors are kept as they are, not as the normalised model.

// A state to be saved.
template <class Real>
struct CpState {
  StateNumbers numbers;  // the same on all processes
  // The rows that this process owns, of the factors and of other vectors as long as these: views, valid until
  // the run goes on.
  std::vector<kernels::FactorVector<Real>> vectors;
  Index num_columns = 0;  // the first columns of the rows; others are zero
};

// A saved state to go on from.
template <class Real>
struct CpRestart {
  StateNumbers numbers;
  // Fills the first columns of the rows that this process owns, of as many vectors as were saved. Collective.
  std::function<void(const std::vector<kernels::FactorVector<Real>>& vectors, Index num_columns)> fill;
};

template <class Real>
using CpPause = PauseWith<CpState<Real>>;
template <class Real>
using CpControl = ControlsWith<CpState<Real>, CpRestart<Real>>;

}  // namespace polyad
