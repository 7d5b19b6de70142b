#pragma once

#include <cstdint>

#include "polyad/algo/cp/prepare_tensor.hpp"

namespace polyad {

// A tensor of observed cells, with their weights, of which there are as many in the same places; none: all
// are 1. The format is csf, with a tree for each mode. Collective.
template <class Real>
PreparedTensor<Real> prepare_cells(const Comm& comm, SparseTensor<double> values,
                                   SparseTensor<double> weights, Progress& progress,
                                   const Distribution& distribution, Index num_components);

// [cell of the share]: 1, or -1 where it is held out. It depends on the seed and the place of the cell only.
Array<double> draw_held_out(const SparseTensor<double>& share, double held_out, std::uint64_t seed);

// The tensor for a model of observed cells. Those that are held out depend on the seed and their place only.
// `weights`: of the cells, which may be on other processes than these and in another order; of order 0: all
// are 1. They are divided by their mean. By default the format is csf, with a tree for each mode. Throws
// Error{bad_input} for weights of other cells, or of cells that occur twice. Collective.
template <class Real>
PreparedTensor<Real> prepare_observed(const Comm& comm, SparseTensor<double> share,
                                      const CpRunOptions& options, Progress& progress,
                                      const Distribution& distribution = {},
                                      SparseTensor<double> weights = {});

}  // namespace polyad
