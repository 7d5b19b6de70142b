#pragma once

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// Cost of the inner loops, in nanoseconds of one thread while all threads are
// busy. Measured on one ARM64 machine (docs/cpd.md); only their ratios matter.
inline constexpr double per_multiply_add = 0.1;
inline constexpr double per_streamed_byte = 0.1;
inline constexpr double per_node = 3;  // loop, branch, and unused lanes of short loops

// Number of cache lines of a factor row.
double lines_of_row(Index num_components, Index value_bytes);
// Time for one cache line of a random row, prefetched, by the size of the factor.
double line_nanoseconds(double table_bytes);
// Time to update a row of a factor: solve, Gram matrix, norms.
double solve_nanoseconds(Index num_components, Index value_bytes);

}  // namespace polyad::kernels
