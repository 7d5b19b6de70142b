#pragma once

#include <omp.h>

#include <exception>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

// How many threads parallel regions have.
inline int num_threads() {
  return omp_get_max_threads();
}

// The begin of the part-th of `parts` nearly equal, contiguous parts of [0, n).
constexpr Index part_begin(Index n, Index part, Index parts) {
  return n / parts * part + n % parts * part / parts;
}

// Splits [0, n) evenly and statically over the threads: fn(begin, end, thread). An exception must not
// leave a parallel region: that of the lowest thread is thrown again here, so that the same input
// fails in the same way on every run.
template <class Fn>
void parallel_parts(Index n, Fn fn) {
  std::vector<std::exception_ptr> errors(num_threads());
#pragma omp parallel
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    try {
      fn(part_begin(n, thread, threads), part_begin(n, thread + 1, threads), thread);
    } catch (...) {
      errors[thread] = std::current_exception();
    }
  }
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

// fn(i) for every i of [0, n), by all threads.
template <class Fn>
void parallel_for(Index n, Fn fn) {
  parallel_parts(n, [&](Index begin, Index end, int) {
    for (Index i = begin; i < end; ++i) fn(i);
  });
}

}  // namespace polyad
