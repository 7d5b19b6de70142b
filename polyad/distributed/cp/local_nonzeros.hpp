#pragma once

#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/distributed/cp/exchange_plan.hpp"
#include "polyad/distributed/cp/part_loads.hpp"
#include "polyad/tensor/compact.hpp"

namespace polyad {

// Moves nonzeros to the processes that multiply them. Returns one tensor, in
// coarse grain one per mode, with global indices. Consumes the share. Collective.
std::vector<SparseTensor<double>> move_to_owners(const Comm& comm, SparseTensor<double> share,
                                                 const Distribution& distribution);

// The part of a distributed tensor on one process, with local row
// numbers, before it is converted to the format of the kernels.
template <class Real>
struct LocalNonzeros {
  std::vector<SparseTensor<Real, LocalIndex>> tensors;  // one, in coarse grain one per mode
  std::vector<ExchangePlan> exchanges;                  // [mode]
  // Totals over all processes:
  Index num_nonzeros = 0, num_negative = 0, num_duplicates = 0;
  double squared_norm = 0, value_scale = 1;
  // Number of rows that fold and expand of all modes send in an iteration, by the volume identity of
  // docs/algorithms.md: computed from the processes that touch and own each row, not from the exchange plans;
  // where rows go in stages, the rows that leave processes in every stage.
  Index volume_rows = 0;
  PartLoads loads;  // loads of all processes
};

// Converts nonzeros to local row numbers, sums duplicates and plans the exchanges. Collective.
template <class Real>
LocalNonzeros<Real> localise(const Comm& comm, std::vector<SparseTensor<double>> moved,
                             const Distribution& distribution);

}  // namespace polyad
