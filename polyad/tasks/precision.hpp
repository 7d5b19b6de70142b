#pragma once

namespace polyad {

// Floating-point precision of values and factors.
enum class Precision { float64, float32 };

}  // namespace polyad
