#pragma once

#include <cassert>
#include <span>
#include <string>

#include "polyad/base/array.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// A dense row-major matrix. Rows are contiguous, because kernels gather rows of factors.
template <class Real>
class Matrix {
 public:
  Matrix() = default;
  Matrix(Index num_rows, Index num_cols)
      : num_rows_(num_rows), num_cols_(num_cols), values_(checked_size(num_rows, num_cols), Real{}) {}
  // In memory of somebody else, which lives longer. Its numbers stay as they are.
  Matrix(Index num_rows, Index num_cols, std::span<Real> place)
      : num_rows_(num_rows),
        num_cols_(num_cols),
        values_(checked_size(num_rows, num_cols), PageAllocator<Real>(place)) {
    assert(values_.size() <= place.size());
  }

  Index num_rows() const { return num_rows_; }
  Index num_cols() const { return num_cols_; }

  Real& operator()(Index row, Index col) { return values_[offset(row, col)]; }
  Real operator()(Index row, Index col) const { return values_[offset(row, col)]; }

  std::span<Real> row(Index i) { return flat().subspan(std::size_t(i * num_cols_), std::size_t(num_cols_)); }
  std::span<const Real> row(Index i) const {
    return flat().subspan(std::size_t(i * num_cols_), std::size_t(num_cols_));
  }
  std::span<Real> flat() { return values_; }
  std::span<const Real> flat() const { return values_; }

  // Changes the number of rows, at most to the number constructed; does not reallocate. New rows are unset.
  void set_num_rows(Index num_rows) {
    assert(num_rows * num_cols_ <= Index(values_.capacity()));
    num_rows_ = num_rows;
    values_.resize(std::size_t(num_rows * num_cols_));
  }

  friend bool operator==(const Matrix&, const Matrix&) = default;

 private:
  static std::size_t checked_size(Index num_rows, Index num_cols) {
    Index size = 0;
    if (__builtin_mul_overflow(num_rows, num_cols, &size) || size > max_matrix_size)
      throw Error(Errc::resource, "out of memory: a matrix of " + std::to_string(num_rows) + " x " +
                                      std::to_string(num_cols) + " was asked for");
    return std::size_t(size);
  }
  static constexpr Index max_matrix_size = Index(1) << 48;

  Index offset(Index row, Index col) const {
    assert(row >= 0 && row < num_rows_ && col >= 0 && col < num_cols_);
    return row * num_cols_ + col;
  }

  Index num_rows_ = 0, num_cols_ = 0;
  Array<Real> values_;
};

}  // namespace polyad
