#pragma once

#include <vector>

#include "polyad/base/machine_model.hpp"
#include "polyad/distributed/cp/part_loads.hpp"

namespace polyad {

// What an iteration of CP-ALS is predicted to take, by the slowest part of every step.
struct PredictedTime {
  double multiply = 0, update = 0, communicate = 0;

  double seconds() const { return multiply + update + communicate; }
};

// Of one mode, and of all. Pure.
PredictedTime predict_time(const PartLoads& loads, int mode, Index num_components,
                           const MachineModel& machine);
PredictedTime predict_time(const PartLoads& loads, Index num_components, const MachineModel& machine);

// Over the parts, in an iteration: (max - min) / max of nonzeros, of words sent and received, and of rows
// (r_nnz, r_vol and r_Ip of seed 001).
struct Imbalance {
  double nnz = 0, volume = 0, rows = 0;
};
Imbalance imbalance_of(const PartLoads& loads);

}  // namespace polyad
