#include "polyad/kernels/dense/blas_memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstddef>

#include "polyad/base/error.hpp"

// LAPACK's own interface. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

namespace polyad::kernels {
namespace {

// The largest buffer of a thread that OpenBLAS is built with (128 MiB on x86-64, 32 MiB elsewhere), and room
// for its alignment; and a stack.
constexpr std::size_t buffer_bytes = 130 << 20, stack_bytes = 8 << 20;

}  // namespace

void check_blas_memory(int num_threads) {
  static std::atomic<int> granted{0};  // threads that have been found to have theirs, which they keep
  if (num_threads <= granted.load()) return;
  const std::size_t bytes = std::size_t(num_threads - granted.load()) * (buffer_bytes + stack_bytes);
  void* probe =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED)
    throw Error(Errc::resource, "out of memory: products of matrices need buffers for every thread; " +
                                    option_name("threads") +
                                    " asks for fewer, and ulimit -v limits the address space");
  munmap(probe, bytes);
  granted.store(num_threads);
}

void reserve_blas_buffer() {
  check_blas_memory(1);
  const int n = 1;
  double a = 1;
  int info = 0;
  dpotrf_("L", &n, &a, &n, &info);
}

}  // namespace polyad::kernels
