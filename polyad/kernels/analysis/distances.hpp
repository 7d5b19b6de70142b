#pragma once

#include <span>

namespace polyad::kernels {

// from += step * (to - from): a step of 1 ends at `to`, a larger one beyond it.
void move_towards(std::span<double> from, std::span<const double> to, double step);

// |a - b|.
double distance(std::span<const double> a, std::span<const double> b);
// |a - b| / |b|; 0 for 0 / 0, and infinite if only b is zero.
double relative_distance(std::span<const double> a, std::span<const double> b);

}  // namespace polyad::kernels
