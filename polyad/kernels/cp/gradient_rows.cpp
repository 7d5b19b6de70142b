#include "polyad/kernels/cp/gradient_rows.hpp"

#include <numeric>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/parallel.hpp"

namespace polyad::kernels {

template <class Real>
double turn_into_gradient(Matrix<Real>& m, const Matrix<Real>& factor, const Matrix<double>& v, double scale,
                          const RowRange& rows) {
  const Index n = m.num_cols();
  std::vector<double> partial(num_threads(), 0.0);
  parallel_parts(rows.end - rows.begin, [&](Index begin, Index end, int thread) {
    Array<double> sums(std::size_t(n), 0.0), inner(std::size_t(n), 0.0);
    for (Index row = rows.begin + begin; row < rows.begin + end; ++row) {
      const Real* const a = factor.row(row).data();
      Real* const to = m.row(row - rows.first).data();
      for (Index r = 0; r < n; ++r) {
        sums[r] = -scale * double(to[r]);
        inner[r] -= double(a[r]) * sums[r];
      }
      for (Index k = 0; k < n; ++k) {
        const double entry = a[k];
        const double* const of_v = v.row(k).data();
        for (Index r = 0; r < n; ++r) sums[r] += entry * of_v[r];
      }
      for (Index r = 0; r < n; ++r) to[r] = Real(sums[r]);
    }
    partial[thread] = std::accumulate(inner.begin(), inner.end(), 0.0);
  });
  return std::accumulate(partial.begin(), partial.end(), 0.0);
}

template double turn_into_gradient(Matrix<float>&, const Matrix<float>&, const Matrix<double>&, double,
                                   const RowRange&);
template double turn_into_gradient(Matrix<double>&, const Matrix<double>&, const Matrix<double>&, double,
                                   const RowRange&);

}  // namespace polyad::kernels
