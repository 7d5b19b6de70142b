#pragma once

#include <cstdint>

namespace polyad {

// Global indices, dimensions, counts and offsets. Signed, so that differences are ordinary numbers.
using Index = std::int64_t;

// Numbers the rows or nonzeros that one process holds in a compressed format, where memory traffic counts.
using LocalIndex = std::uint32_t;
inline constexpr Index max_local_index = 0xffffffff;

// The orders (number of modes) that Polyad works with.
inline constexpr int min_order = 2;
inline constexpr int max_order = 16;

}  // namespace polyad
