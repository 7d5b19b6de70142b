#pragma once

#include <omp.h>

#include "polyad/base/call_ref.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// Number of threads of parallel regions.
inline int num_threads() {
  return omp_get_max_threads();
}

// Start of number `part` of `parts` nearly equal, contiguous parts of [0, n).
constexpr Index part_begin(Index n, Index part, Index parts) {
  return n / parts * part + n % parts * part / parts;
}

// Splits [0, n) evenly and statically over the threads: fn(begin, end,
// thread). If threads throw, the exception of the lowest one is thrown
// here, so that the same input fails in the same way on every run.
void parallel_parts(Index n, CallRef<void(Index, Index, int)> fn);

// Calls fn(i) for every i of [0, n), with all threads.
template <class Fn>
void parallel_for(Index n, Fn fn) {
  parallel_parts(n, [&](Index begin, Index end, int) {
    for (Index i = begin; i < end; ++i) fn(i);
  });
}

}  // namespace polyad
