#include "polyad/kernels/normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

// LAPACK's own interface: every implementation has it. NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dsyev_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
            double* work, const int* lwork, int* info);
// OpenBLAS has these; other implementations need not.
[[gnu::weak]] int openblas_get_num_threads();
[[gnu::weak]] void openblas_set_num_threads(int count);
}
// NOLINTEND(readability-identifier-naming)

namespace polyad {
namespace {

// Keeps OpenBLAS from waking threads of its own for small matrices: ours are waiting for work and keep the
// cores busy while they do, so that on 16 cores its threads made an iteration three times as long.
class OneBlasThread {
 public:
  OneBlasThread() {
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
  }
  ~OneBlasThread() {
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(before_);
  }
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  int before_ = openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 1;
};

// Inverts a matrix with unit diagonal; false when it is not safely definite. The pivots of a matrix with
// unit diagonal bound its smallest eigenvalue from above.
bool invert_by_cholesky(Matrix<double>& a, double epsilon) {
  const int n = int(a.num_rows());
  int info = 0;
  dpotrf_("L", &n, a.flat().data(), &n, &info);
  if (info != 0) return false;
  for (Index i = 0; i < n; ++i)
    if (a(i, i) * a(i, i) < 100 * n * epsilon) return false;
  dpotri_("L", &n, a.flat().data(), &n, &info);
  if (info != 0) return false;
  // LAPACK's lower half is the upper half of a row-major matrix.
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) a(i, j) = a(j, i);
  return true;
}

Matrix<double> invert_by_eigenvalues(Matrix<double> a, double epsilon) {
  const int n = int(a.num_rows()), work_size = 34 * n;
  std::vector<double> values(a.num_rows()), work(static_cast<std::size_t>(work_size));
  int info = 0;
  dsyev_("V", "L", &n, a.flat().data(), &n, values.data(), work.data(), &work_size, &info);
  Matrix<double> inverse(n, n);
  if (info != 0) return inverse;  // finite input always converges
  const double negligible = 100 * n * epsilon * std::max(values.back(), 0.0);
  for (Index k = 0; k < n; ++k) {
    if (values[k] <= negligible) continue;
    const auto vector = a.row(k);  // LAPACK's k-th column
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) inverse(i, j) += vector[i] * vector[j] / values[k];
  }
  return inverse;
}

// The components whose diagonal has an inverse.
std::vector<Index> live_components(const Matrix<double>& v) {
  std::vector<Index> live;
  for (Index i = 0; i < v.num_rows(); ++i)
    if (v(i, i) > 0 && std::isfinite(1 / v(i, i))) live.push_back(i);
  return live;
}

}  // namespace

Matrix<double> hadamard_except(std::span<const Matrix<double>> grams, int mode) {
  Matrix<double> product(grams[0].num_rows(), grams[0].num_cols());
  std::ranges::fill(product.flat(), 1.0);
  for (int m = 0; m < int(grams.size()); ++m)
    if (m != mode)
      for (Index k = 0; k < std::ssize(product.flat()); ++k) product.flat()[k] *= grams[m].flat()[k];
  return product;
}

Matrix<double> pseudo_inverse(const Matrix<double>& v, double epsilon) {
  const auto live = live_components(v);
  const auto n = Index(live.size());
  Matrix<double> inverse(v.num_rows(), v.num_cols());
  if (n == 0) return inverse;
  std::vector<double> scale;
  for (const Index i : live) scale.push_back(1 / std::sqrt(v(i, i)));
  Matrix<double> scaled(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) scaled(i, j) = v(live[i], live[j]) * scale[i] * scale[j];
  const OneBlasThread alone;
  auto factored = scaled;
  if (!invert_by_cholesky(factored, epsilon)) factored = invert_by_eigenvalues(std::move(scaled), epsilon);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) inverse(live[i], live[j]) = factored(i, j) * scale[i] * scale[j];
  return inverse;
}

double sum_of_entries(const Matrix<double>& matrix) {
  double sum = 0;
  for (const double entry : matrix.flat()) sum += entry;
  return sum;
}

}  // namespace polyad
