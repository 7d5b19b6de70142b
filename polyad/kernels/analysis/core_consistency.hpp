#pragma once

#include <optional>
#include <span>

#include "polyad/base/array.hpp"
#include "polyad/tensor/compact.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad::kernels {

// Beyond so many entries of the core, which has num_components ^ order, there is no core consistency.
inline constexpr Index max_core_entries = Index(1) << 24;
// How many there are; nothing beyond the limit.
std::optional<Index> num_core_entries(Index num_components, int order);
// What all threads take for it.
Index core_bytes(Index num_components, int order);

// The core that fits the tensor best between the factors of a model, G = X x_1 A_1^+ x_2 A_2^+ ..., with the
// weights in the first factor. The nonzeros are sorted by the mode order, which is that of the core's modes,
// too. Sums over fibers, then over slices: the dense tensor is never formed. Short modes first are fastest.
Array<double> tucker_core(const CompactTensor<double>& x, std::span<const int> mode_order,
                          const Kruskal<double>& model);

// Core consistency (Bro and Kiers, 2003): 100 (1 - |G - T|^2 / R), where T has ones on its superdiagonal and
// zeros elsewhere. Near 100 when R components describe the tensor, each for itself; low or negative when
// they need each other, as when there are too many. Nothing beyond max_core_entries.
std::optional<double> core_consistency(const CompactTensor<double>& x, std::span<const int> mode_order,
                                       const Kruskal<double>& model);

}  // namespace polyad::kernels
