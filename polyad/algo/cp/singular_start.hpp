#pragma once

#include <optional>

#include "polyad/algo/cp/run_cp.hpp"

namespace polyad {

// The start of Start::svd: the rows that this process owns of a model whose columns are the leading left
// singular vectors of the tensor as a matrix, mode by mode. Where there are fewer of them than components,
// the other columns are random (Start::automatic). The mode that alternating least squares updates first has
// columns of zeros, as it is computed from the others. Nothing for a tensor of zeros. Collective.
template <class Real>
std::optional<Kruskal<Real>> singular_start(const DistTensor<Real>& x, const AlsPlan& plan,
                                            const CpRunOptions& options);

}  // namespace polyad
