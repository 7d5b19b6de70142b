#pragma once

#include <cstdint>

namespace polyad {

// Global indices, extents, counts and offsets. Signed, so that differences are valid.
using Index = std::int64_t;

// Numbers of the rows or nonzeros of one process in compressed formats, where memory traffic matters.
using LocalIndex = std::uint32_t;
inline constexpr Index max_local_index = 0xffffffff;

// Supported orders of tensors (numbers of modes).
inline constexpr int min_order = 2;
inline constexpr int max_order = 16;

}  // namespace polyad
