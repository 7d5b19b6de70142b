#pragma once

#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/distributed/cp/exchange_plan.hpp"
#include "polyad/distributed/cp/part_loads.hpp"
#include "polyad/tensor/compact.hpp"

namespace polyad {

// The nonzeros that this process multiplies, still with global indices: one tensor, or in coarse grain one
// per mode. Consumes the share. Collective.
std::vector<SparseTensor<double>> move_to_owners(const Comm& comm, SparseTensor<double> share,
                                                 const Distribution& distribution);

// What a process holds of a distributed tensor, under local row numbers, before it is put into the format of
// the kernels.
template <class Real>
struct LocalNonzeros {
  std::vector<SparseTensor<Real, LocalIndex>> tensors;  // as above
  std::vector<ExchangePlan> exchanges;                  // [mode]
  // Of the tensors of all processes:
  Index num_nonzeros = 0, num_duplicates = 0;
  double squared_norm = 0, value_scale = 1;
  // Rows that fold and expand of all modes move in an iteration, by the identity of ALGORITHMS, section 2:
  // from who touches and who owns which row, not from the exchange plans.
  Index volume_rows = 0;
  PartLoads loads;  // of all processes, as they are
};

// Collective.
template <class Real>
LocalNonzeros<Real> localise(const Comm& comm, std::vector<SparseTensor<double>> moved,
                             const Distribution& distribution);

}  // namespace polyad
