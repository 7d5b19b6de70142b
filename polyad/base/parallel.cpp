#include "polyad/base/parallel.hpp"

#include <exception>
#include <vector>

namespace polyad {

void parallel_parts(Index n, CallRef<void(Index, Index, int)> fn) {
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

}  // namespace polyad
