#include "polyad/kernels/dense/matrix_product.hpp"

#include <algorithm>
#include <type_traits>

#include "polyad/kernels/dense/blas_memory.hpp"

// BLAS's own interface: every implementation has it. NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
// OpenBLAS has these; other implementations need not.
[[gnu::weak]] int openblas_get_num_threads();
[[gnu::weak]] void openblas_set_num_threads(int count);
}
// NOLINTEND(readability-identifier-naming)

namespace polyad::kernels {
namespace {

constexpr Index longest = Index(1) << 30;  // BLAS counts in 32 bits

template <class Real>
MatrixView<Real> transposed(const MatrixView<Real>& x) {
  return {x.elements, x.cols, x.rows, x.leading, !x.is_transposed};
}

template <class Real>
Real* at(const MatrixView<Real>& x, Index row, Index col) {
  return x.elements + (x.is_transposed ? row * x.leading + col : row + col * x.leading);
}

// Up to 2^30 in every direction, C by columns.
template <class Real>
void gemm(const MatrixView<const Real>& a, const MatrixView<const Real>& b, const MatrixView<Real>& c) {
  const char trans_a = a.is_transposed ? 'T' : 'N', trans_b = b.is_transposed ? 'T' : 'N';
  const int m = int(c.rows), n = int(c.cols), k = int(a.cols);
  const int lda = int(a.leading), ldb = int(b.leading), ldc = int(c.leading);
  const Real one = 1;
  if constexpr (std::is_same_v<Real, double>)
    dgemm_(&trans_a, &trans_b, &m, &n, &k, &one, a.elements, &lda, b.elements, &ldb, &one, c.elements, &ldc);
  else
    sgemm_(&trans_a, &trans_b, &m, &n, &k, &one, a.elements, &lda, b.elements, &ldb, &one, c.elements, &ldc);
}

}  // namespace

template <class Real>
void multiply_add(const MatrixView<const Real>& a, const MatrixView<const Real>& b,
                  const MatrixView<Real>& c) {
  if (c.is_transposed) return multiply_add(transposed(b), transposed(a), transposed(c));
  for (Index i = 0; i < c.rows; i += longest)
    for (Index j = 0; j < c.cols; j += longest)
      for (Index l = 0; l < a.cols; l += longest) {
        const Index m = std::min(longest, c.rows - i), n = std::min(longest, c.cols - j),
                    k = std::min(longest, a.cols - l);
        gemm<Real>({at(a, i, l), m, k, a.leading, a.is_transposed},
                   {at(b, l, j), k, n, b.leading, b.is_transposed}, {at(c, i, j), m, n, c.leading, false});
      }
}
template void multiply_add(const MatrixView<const float>&, const MatrixView<const float>&,
                           const MatrixView<float>&);
template void multiply_add(const MatrixView<const double>&, const MatrixView<const double>&,
                           const MatrixView<double>&);

BlasThreads::BlasThreads(int count)
    : before_(openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 1) {
  if (count > before_) check_blas_memory(count);
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(count);
}

BlasThreads::~BlasThreads() {
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(before_);
}

}  // namespace polyad::kernels
