#pragma once
// Private to the local contraction: BLAS behind types.

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// A matrix in memory: by columns, or by rows if transposed; `leading` elements apart.
template <class Real>
struct MatrixView {
  Real* elements = nullptr;
  Index rows = 0, cols = 0, leading = 1;
  bool is_transposed = false;
};

// C += A B.
template <class Real>
void multiply_add(const MatrixView<const Real>& a, const MatrixView<const Real>& b,
                  const MatrixView<Real>& c);

// Sets the number of threads of BLAS while it exists.
class BlasThreads {
 public:
  explicit BlasThreads(int count);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_;
};

}  // namespace polyad::kernels
