#pragma once

#include <optional>
#include <span>

#include "polyad/base/array.hpp"
#include "polyad/tensor/compact.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad::kernels {

// Maximum number of entries of the core, num_components ^ order, for which core consistency is computed.
inline constexpr Index max_core_entries = Index(1) << 24;
// Number of entries of the core; nothing above the maximum.
std::optional<Index> num_core_entries(Index num_components, int order);
// Memory of the computation on all threads, in bytes.
Index core_bytes(Index num_components, int order);

// The least-squares core of a tensor for the factors of a model, G = X x_1 A_1^+ x_2 A_2^+ ..., with the
// weights in the first factor. The nonzeros are sorted by the mode order, which is also that of the core's
// modes. Sums over fibers, then slices; the dense tensor is never formed. Fastest with short modes first.
Array<double> tucker_core(const CompactTensor<double>& x, std::span<const int> mode_order,
                          const Kruskal<double>& model);

// Core consistency (Bro and Kiers 2003): 100 (1 - |G - T|^2 / R), where T is the superdiagonal
// tensor of ones. Near 100 if R components describe the tensor independently; low or negative
// if they compensate each other, as with too many components. Nothing above max_core_entries.
std::optional<double> core_consistency(const CompactTensor<double>& x, std::span<const int> mode_order,
                                       const Kruskal<double>& model);

}  // namespace polyad::kernels
