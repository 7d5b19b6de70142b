#pragma once

#include <cstdint>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

enum class FingerprintOf { coordinates, coordinates_and_values };

// A 64-bit number that tells tensors apart: it depends on the extents and on the coordinates of the nonzeros
// in their order, and on request on their values. Every process brings a share of the nonzeros, those of
// process 0 first; the number is the same for any division into shares. Stored partitions are found by it, so
// it must not change between versions. Against accidents, not against intent. Collective.
std::uint64_t tensor_fingerprint(const Comm& comm, const SparseTensor<double>& share,
                                 FingerprintOf what = FingerprintOf::coordinates_and_values);

// The fingerprint of what has `fingerprint` together with one more number, such as an option.
std::uint64_t extend_fingerprint(std::uint64_t fingerprint, std::uint64_t number);

}  // namespace polyad
