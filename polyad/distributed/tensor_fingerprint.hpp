#pragma once

#include <cstdint>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

enum class FingerprintOf {
  coordinates,
  coordinates_and_values,
  cells_in_any_order  // coordinates and values; the order of the nonzeros does not matter
};

// A 64-bit hash of a tensor: of its extents, of the coordinates of its nonzeros, usually in their order,
// and optionally of their values. Every process passes a share of the nonzeros, those of process
// 0 first; the result does not depend on the division into shares. Cached partitions are
// identified by it, so it must not change between versions. It is not cryptographic. Collective.
std::uint64_t tensor_fingerprint(const Comm& comm, const SparseTensor<double>& share,
                                 FingerprintOf what = FingerprintOf::coordinates_and_values);

// The fingerprint of the same tensor together with one more number, such as an option.
std::uint64_t extend_fingerprint(std::uint64_t fingerprint, std::uint64_t number);

}  // namespace polyad
