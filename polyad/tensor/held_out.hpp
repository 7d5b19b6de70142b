#pragma once

#include <cstdint>
#include <span>

#include "polyad/tensor/compact.hpp"

namespace polyad {

// A sample of a tensor's cells that a model is not to see, so that it can be tested on them.
struct HeldOut {
  // The nonzeros that are held out, then zeros; with their values, in the units of the compact tensor.
  SparseTensor<double, LocalIndex> cells;
  Array<Index> nonzeros;          // which nonzeros of the tensor they are, ascending
  double known_mean = 0;          // of all other cells, zeros included
  double known_squared_norm = 0;  // likewise
  double value_scale = 1;         // what all these were divided by

  Index num_nonzeros() const { return std::ssize(nonzeros); }
  Index num_zeros() const { return cells.num_nonzeros() - num_nonzeros(); }
};

// Draws a fraction of the nonzeros, at least one, and as many zeros among the slices that are not empty: but
// no larger a fraction of the zeros. Depends on the places of the nonzeros, not on their values. The
// nonzeros are sorted by the mode order.
HeldOut hold_out(const CompactTensor<double>& x, std::span<const int> mode_order, double fraction,
                 std::uint64_t seed);

// The tensor as it was before it was made compact.
SparseTensor<double> expand(const CompactTensor<double>& x);
// The same with the held-out cells as entries of their own, all with the mean of the others as their value.
SparseTensor<double> expand_without(const CompactTensor<double>& x, const HeldOut& held_out);

}  // namespace polyad
