#pragma once

#include <cstdint>
#include <span>

#include "polyad/tensor/compact.hpp"

namespace polyad {

// A sample of the cells of a tensor that a model must not use, to test it on them.
struct HeldOut {
  // The nonzeros that are held out, then zeros; with their values, in the units of the compact tensor.
  SparseTensor<double, LocalIndex> cells;
  Array<Index> nonzeros;          // positions of the held-out nonzeros in the tensor, ascending
  double known_mean = 0;          // of all other cells, including zeros
  double known_squared_norm = 0;  // of all other cells
  double value_scale = 1;         // by which all values were divided

  Index num_nonzeros() const { return std::ssize(nonzeros); }
  Index num_zeros() const { return cells.num_nonzeros() - num_nonzeros(); }
};

// Draws a fraction of the nonzeros, at least one, and as many zeros in nonempty
// slices, but no larger a fraction of the zeros. Depends on the coordinates of
// the nonzeros, not on their values. The nonzeros are sorted by the mode order.
HeldOut hold_out(const CompactTensor<double>& x, std::span<const int> mode_order, double fraction,
                 std::uint64_t seed);

// The tensor before it was made compact.
SparseTensor<double> expand(const CompactTensor<double>& x);
// The same with the held-out cells as entries, all with the mean of the other cells as their value.
SparseTensor<double> expand_without(const CompactTensor<double>& x, const HeldOut& held_out);

}  // namespace polyad
