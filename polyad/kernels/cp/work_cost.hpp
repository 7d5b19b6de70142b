#pragma once

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// What the inner loops cost, in nanoseconds of one thread while all threads are at work. Measured on one
// ARM64 machine (docs/cpd.md); what matters is their proportion.
inline constexpr double per_multiply_add = 0.1;
inline constexpr double per_streamed_byte = 0.1;
inline constexpr double per_node = 3;  // loop, branch, and what a short loop leaves unused

// How many cache lines a row of a factor has.
double lines_of_row(Index num_components, Index value_bytes);
// For one cache line of a random row, prefetched, by the size of the table it is in.
double line_nanoseconds(double table_bytes);
// For a row of the factor update: solve, Gram matrix, norms.
double solve_nanoseconds(Index num_components, Index value_bytes);

}  // namespace polyad::kernels
