#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"

namespace polyad {

// Some rows of a mode, of several vectors that are as long as the factors together.
template <class Real>
struct StateRows {
  int mode = 0;
  Array<Index> rows;   // global numbers
  Array<Real> values;  // [row][vector][column]
};

// [vector][mode]: the entries of the rows that this process owns; of each row `num_columns` are of interest.
template <class Real>
struct StateVectors {
  std::vector<std::vector<std::span<Real>>> vectors;
  Index num_columns = 0;
};

// Hands the rows that the processes of a machine own to its first process, in blocks of bounded size, for
// which take(block) is called there. What this throws is thrown at the end. Collective over the machine.
template <class Real>
void gather_state(const Comm& machine, const DistTensor<Real>& x, const StateVectors<Real>& state,
                  const std::function<void(const StateRows<Real>&)>& take);

// The inverse, for any distribution: next() is called on the first process of the machine until it returns
// nothing, and every process takes the rows that it owns. Throws Error{bad_input} if there is not every one
// of them once, and what next() throws. Collective over the machine.
template <class Real>
void hand_out_state(const Comm& machine, const DistTensor<Real>& x, const StateVectors<Real>& state,
                    const std::function<std::optional<StateRows<Real>>()>& next);

}  // namespace polyad
