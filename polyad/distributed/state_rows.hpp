#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad {

// Some rows of the state of a run.
template <class Real>
struct StateRows {
  int kind = 0;        // the mode that they belong to; of ratings, 0 for users and 1 for items
  Array<Index> rows;   // global numbers
  Array<Real> values;  // [row][entry]
};

// The rows of the state that this process owns, and how their entries are read and written.
template <class Real>
struct OwnRows {
  std::vector<std::span<const Index>> numbers;  // [kind][own row]: its global number
  Index width = 0;                              // entries per row
  std::function<void(int kind, Index row, Real* to)> read;
  std::function<void(int kind, Index row, const Real* from)> write;

  int num_kinds() const { return int(numbers.size()); }
};

// Hands the rows that the processes of a machine own to its first process, in blocks of bounded size, for
// which take(block) is called there. What this throws is thrown at the end. Collective over the machine.
template <class Real>
void gather_state(const Comm& machine, const OwnRows<Real>& own,
                  const std::function<void(const StateRows<Real>&)>& take);

// The inverse, for any distribution: next() is called on the first process of the machine until it returns
// nothing, and every process takes the rows that it owns. Throws Error{bad_input} if there is not every one
// of them once, and what next() throws. Collective over the machine.
template <class Real>
void hand_out_state(const Comm& machine, const OwnRows<Real>& own,
                    const std::function<std::optional<StateRows<Real>>()>& next);

}  // namespace polyad
