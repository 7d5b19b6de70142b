#include "polyad/kernels/cp/normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "polyad/base/error.hpp"

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

namespace polyad::kernels {
namespace {

// Keeps OpenBLAS from waking threads of its own for small matrices: ours are waiting for work and keep the
// cores busy while they do, so that on 16 cores its threads made an iteration three times as long. Its number
// of threads, which decides how it rounds, is one for the whole program: of several decompositions at once
// the first sets it, and the last restores it.
class OneBlasThread {
 public:
  OneBlasThread() {
    if (openblas_set_num_threads == nullptr || openblas_get_num_threads == nullptr) return;
    const std::scoped_lock lock(all().mutex);
    if (all().num_users++ > 0) return;
    all().before = openblas_get_num_threads();
    openblas_set_num_threads(1);
  }
  ~OneBlasThread() {
    if (openblas_set_num_threads == nullptr || openblas_get_num_threads == nullptr) return;
    const std::scoped_lock lock(all().mutex);
    if (--all().num_users == 0) openblas_set_num_threads(all().before);
  }
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  struct Users {
    std::mutex mutex;
    int num_users = 0, before = 1;
  };
  static Users& all() {
    static Users users;
    return users;
  }
};

// The largest sum of absolute values in a row, which for a symmetric matrix is its 1-norm.
double largest_row_sum(const Matrix<double>& a) {
  double largest = 0;
  for (Index i = 0; i < a.num_rows(); ++i) {
    double sum = 0;
    for (const double entry : a.row(i)) sum += std::abs(entry);
    largest = std::max(largest, sum);
  }
  return largest;
}

// Up to which a product with the inverse is exact enough to be the solution.
double direct_condition(double epsilon) {
  return 1 / std::sqrt(epsilon);
}

struct ConditionedInverse {
  Matrix<double> inverse;
  double condition;
};

// The inverse by Cholesky, or nothing where the condition number exceeds the given one. The pivots alone
// cannot tell: they only bound the smallest eigenvalue from above. The 1-norms of matrix and inverse can, and
// cost little once there is an inverse: a matrix too near to a singular one has none, or a huge one.
std::optional<ConditionedInverse> invert_by_cholesky(const Matrix<double>& a, double max_condition) {
  auto inverse = a;
  const int n = int(a.num_rows());
  int info = 0;
  dpotrf_("L", &n, inverse.flat().data(), &n, &info);
  if (info != 0) return std::nullopt;
  dpotri_("L", &n, inverse.flat().data(), &n, &info);
  if (info != 0) return std::nullopt;
  // LAPACK's lower half is the upper half of a row-major matrix.
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) inverse(i, j) = inverse(j, i);
  const double condition = largest_row_sum(a) * largest_row_sum(inverse);
  if (!(condition <= max_condition)) return std::nullopt;
  return ConditionedInverse{std::move(inverse), condition};
}

// The matrix with the same eigenvectors and the eigenvalues inverted(value, largest value).
template <class Inverted>
ConditionedInverse invert_by_eigenvalues(Matrix<double> a, Inverted inverted) {
  const int n = int(a.num_rows()), work_size = 34 * n;
  std::vector<double> values(a.num_rows()), work(static_cast<std::size_t>(work_size));
  int info = 0;
  dsyev_("V", "L", &n, a.flat().data(), &n, values.data(), work.data(), &work_size, &info);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Matrix<double> inverse(n, n);
  if (info != 0) return {std::move(inverse), infinity};  // finite input always converges
  for (Index k = 0; k < n; ++k) {
    const double value = inverted(values[k], std::max(values.back(), 0.0));
    if (value == 0) continue;
    const auto vector = a.row(k);  // LAPACK's k-th column
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) inverse(i, j) += vector[i] * vector[j] * value;
  }
  return {std::move(inverse), values.front() > 0 ? values.back() / values.front() : infinity};
}

// A symmetric matrix scaled to a unit diagonal, without the rows and columns whose diagonal has no inverse.
class UnitDiagonal {
 public:
  explicit UnitDiagonal(const Matrix<double>& v) : size_(v.num_rows()) {
    for (Index i = 0; i < size_; ++i)
      if (v(i, i) > 0 && std::isfinite(1 / v(i, i))) {
        live_.push_back(i);
        scale_.push_back(1 / std::sqrt(v(i, i)));
      }
    const auto n = Index(live_.size());
    matrix = Matrix<double>(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) matrix(i, j) = v(live_[i], live_[j]) * scale_[i] * scale_[j];
  }

  // The inverse of what was scaled, from that of `matrix`; zero in the rows and columns left out.
  Matrix<double> scale_back(const Matrix<double>& inverse) const {
    Matrix<double> result(size_, size_);
    for (std::size_t i = 0; i < live_.size(); ++i)
      for (std::size_t j = 0; j < live_.size(); ++j)
        result(live_[i], live_[j]) = inverse(Index(i), Index(j)) * scale_[i] * scale_[j];
    return result;
  }

  Matrix<double> matrix;

 private:
  Index size_;
  std::vector<Index> live_;
  std::vector<double> scale_;
};

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
  const OneBlasThread alone;
  const UnitDiagonal scaled(v);
  if (scaled.matrix.num_rows() == 0) return {v.num_rows(), v.num_cols()};
  if (const auto direct = invert_by_cholesky(scaled.matrix, direct_condition(epsilon)))
    return scaled.scale_back(direct->inverse);
  const double negligible = 100 * double(v.num_rows()) * epsilon;
  const auto truncated = invert_by_eigenvalues(scaled.matrix, [&](double value, double largest) {
    return value > negligible * largest ? 1 / value : 0;
  });
  return scaled.scale_back(truncated.inverse);
}

NormalInverse invert_normal_matrix(const Matrix<double>& v, double epsilon) {
  const OneBlasThread alone;
  const UnitDiagonal scaled(v);
  if (scaled.matrix.num_rows() == 0) return {{v.num_rows(), v.num_cols()}};
  const double damped = std::pow(epsilon, 2.0 / 3);
  if (const auto exact = invert_by_cholesky(scaled.matrix, 1 / damped))
    return {scaled.scale_back(exact->inverse), exact->condition <= direct_condition(epsilon),
            exact->condition};
  // Continuous in the eigenvalue, so that rounding decides nothing.
  const auto result = invert_by_eigenvalues(scaled.matrix, [&](double value, double largest) {
    const double minimum = damped * largest;
    return value >= minimum ? 1 / value : std::max(value, 0.0) / (minimum * minimum);
  });
  return {scaled.scale_back(result.inverse), false, result.condition};
}

SymmetricEigen symmetric_eigen(Matrix<double> a) {
  const OneBlasThread one_thread;
  const int n = int(a.num_rows()), work_size = 34 * n;
  std::vector<double> values(a.num_rows()), work(static_cast<std::size_t>(work_size));
  int info = 0;
  dsyev_("V", "L", &n, a.flat().data(), &n, values.data(), work.data(), &work_size, &info);
  if (info != 0) throw Error(Errc::internal, "the eigenvalues of a small matrix were not found");
  Matrix<double> vectors(n, n);
  for (Index k = 0; k < n; ++k)
    for (Index i = 0; i < n; ++i) vectors(i, k) = a(n - 1 - k, i);  // LAPACK's k-th column
  std::ranges::reverse(values);
  return {std::move(values), std::move(vectors)};
}

double sum_of_entries(const Matrix<double>& matrix) {
  double sum = 0;
  for (const double entry : matrix.flat()) sum += entry;
  return sum;
}

}  // namespace polyad::kernels
