#pragma once

#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"

namespace polyad::kernels {

// What an update of a factor leaves besides the factor: its Gram matrix, and the inner product of M and A
// (which is that of tensor and model). Sums over the rows of one process, in double.
struct RowSums {
  Matrix<double> gram;
  double inner = 0;

  // Those of other rows.
  void operator+=(const RowSums& other);
};

// How rows m of an MTTKRP become rows a of the factor, from the rows a_0 that the factor has.
struct RowSystem {
  enum class Kind {
    solve,    // the least squares a V = m:  a = m inverse
    correct,  // the same where V is ill-conditioned:  a = a_0 + (m - a_0 V) inverse; see NormalInverse
    descend   // those with a >= 0, by coordinate descent from a_0
  };
  Kind kind = Kind::solve;
  Matrix<double> inverse;     // with its columns multiplied by `scale`; unless it is to descend
  Matrix<double> v;           // unless it is to solve
  std::vector<double> start;  // [component]: what the factor's columns are multiplied with to be a_0
  std::vector<double> scale;  // [component]: what the new columns are multiplied with

  Index num_components() const { return kind == Kind::descend ? v.num_rows() : inverse.num_rows(); }
};

// The rows of an MTTKRP as sums of several parts, each filled by one thread, so that no two threads write
// to the same row. All zero between uses.
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

// The first num_rows rows of the factor from the sum of the parts, in one pass over the rows; leaves these
// rows of the parts zero.
template <class Real>
RowSums update_rows(PartialRows<Real>& m, const RowSystem& system, Matrix<Real>& factor, Index num_rows);

// Rows [begin, end) of a factor, and the matrix that holds their MTTKRP: of the rows from `first` on.
struct RowRange {
  Index begin = 0, end = 0;
  Index first = 0;
};
template <class Real>
RowSums update_rows(const Matrix<Real>& m, const RowSystem& system, Matrix<Real>& factor,
                    const RowRange& rows);

// m = the sum of the parts, of the rows from `first` on; leaves these rows of the parts zero.
template <class Real>
void add_up(PartialRows<Real>& parts, Matrix<Real>& m, Index first = 0);

// factor^T factor over its first num_rows rows, in double.
template <class Real>
Matrix<double> gram(const Matrix<Real>& factor, Index num_rows);

}  // namespace polyad::kernels
