#pragma once

#include <vector>

#include "polyad/base/machine_model.hpp"
#include "polyad/distributed/cp/part_loads.hpp"
#include "polyad/plan/fused_passes.hpp"

namespace polyad {

// Predicted time of a CP-ALS iteration, in seconds: the sum over its steps of the slowest part.
struct PredictedTime {
  double multiply = 0, update = 0, communicate = 0;  // MTTKRP, update of rows, communication

  double seconds() const { return multiply + update + communicate; }
};

// Predicts the time for one mode, by passes of its own.
PredictedTime predict_time(const PartLoads& loads, int mode, Index num_components,
                           const MachineModel& machine);
// For all modes, with those passes that serve two modes and save the most.
PredictedTime predict_time(const PartLoads& loads, Index num_components, const MachineModel& machine,
                           const FusedPasses& fused = {});

// Imbalance (max - min) / max over the parts, in an iteration: of the nonzeros multiplied, of the words sent
// and received, and of the rows owned (r_nnz, r_vol and r_Ip of Miao et al. 2023; docs/algorithms.md).
struct Imbalance {
  double nnz = 0, volume = 0, rows = 0;
};
Imbalance imbalance_of(const PartLoads& loads);

}  // namespace polyad
