#pragma once

#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"

namespace polyad::kernels {

// By-products of updating a factor: its Gram matrix, and the inner product of M and A, which
// is that of tensor and model. Sums over the rows of one process, in double precision.
struct RowSums {
  Matrix<double> gram;
  double inner = 0;

  // Adds the sums of other rows.
  void operator+=(const RowSums& other);
};

// How rows m of an MTTKRP are converted to rows a of the factor, given its current rows a_0.
struct RowSystem {
  enum class Kind {
    solve,    // least squares a V = m:  a = m inverse
    correct,  // the same for an ill-conditioned V:  a = a_0 + (m - a_0 V) inverse; see NormalInverse
    descend   // nonnegative least squares, by coordinate descent from a_0
  };
  Kind kind = Kind::solve;
  Matrix<double> inverse;     // with its columns multiplied by `scale`; unused by descend
  Matrix<double> v;           // unused by solve
  std::vector<double> start;  // [component]: factor for the current columns, which gives a_0
  std::vector<double> scale;  // [component]: factor for the new columns

  Index num_components() const { return kind == Kind::descend ? v.num_rows() : inverse.num_rows(); }
};

// Rows of an MTTKRP as sums of several parts, each
// written by one thread only. All zero between uses.
template <class Real>
class PartialRows {
 public:
  PartialRows() = default;
  PartialRows(int num_parts, Index max_rows, Index num_components);

  int num_parts() const { return num_parts_; }
  Index num_components() const { return num_components_; }
  Real* part(int p) { return values_.data() + Index(p) * part_size_; }

 private:
  int num_parts_ = 0;
  Index num_components_ = 0, part_size_ = 0;
  Array<Real> values_;
};

// Computes the first num_rows rows of the factor from the sum of
// the parts, in one pass; sets these rows of the parts to zero.
template <class Real>
RowSums update_rows(PartialRows<Real>& m, const RowSystem& system, Matrix<Real>& factor, Index num_rows);

// Rows [begin, end) of a factor; their MTTKRP is in a matrix that starts with row `first`.
struct RowRange {
  Index begin = 0, end = 0;
  Index first = 0;
};
template <class Real>
RowSums update_rows(const Matrix<Real>& m, const RowSystem& system, Matrix<Real>& factor,
                    const RowRange& rows);
// The same, and puts the new rows in the place of those of m, too.
template <class Real>
RowSums update_rows_in_both(Matrix<Real>& m, const RowSystem& system, Matrix<Real>& factor,
                            const RowRange& rows);

// m = sum of the parts, for the rows from `first` on; sets these rows of the parts to zero.
template <class Real>
void add_up(PartialRows<Real>& parts, Matrix<Real>& m, Index first = 0);

// m += sum of the parts; sets the rows of the parts to zero.
template <class Real>
void add_to(PartialRows<Real>& parts, Matrix<Real>& m);

// factor^T factor over its first num_rows rows, in double precision.
template <class Real>
Matrix<double> gram(const Matrix<Real>& factor, Index num_rows);

}  // namespace polyad::kernels
