#pragma once

#include <vector>

#include "polyad/dense/dense_tensor.hpp"

namespace polyad::dense {

// The same tensor on another grid of the same processes. Every element is sent once to each process that is
// to have it, all in one exchange: besides both tensors, a process holds what it sends and receives. For
// moves on one grid redistribute() plans cheaper ways. Collective.
template <class Real>
DenseTensor<Real> move_to_grid(const DenseTensor<Real>& x, const ProcessGrid& grid,
                               const TensorDistribution& distribution);

// The elements of a tensor whose indices agree in all modes with the same label, as a tensor with one mode
// for each label, in the order in which they first occur: labels {0, 0, 2} take A[i,i,j] as a tensor of i and
// j. The result is on a grid of one mode. Throws Error{bad_option} when modes with the same label have
// different extents. Collective.
template <class Real>
DenseTensor<Real> diagonal(const DenseTensor<Real>& x, const std::vector<int>& labels);

// All elements, with the last mode fastest, on every process. Collective.
template <class Real>
Array<Real> gather_elements(const DenseTensor<Real>& x);

}  // namespace polyad::dense
