#pragma once

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"

namespace polyad {

// A rating with the local numbers of its user and item on a process.
template <class Real>
struct LocalRating {
  LocalIndex user, item;
  Real value;

  friend bool operator==(const LocalRating&, const LocalRating&) = default;
};

// The rows of users, or of items, in training. Columns of `factors` beyond those of the model are zero.
template <class Real>
struct RatingRows {
  Matrix<Real> factors;
  Array<Real> biases;   // [row]
  Array<Real> squares;  // [row]: state of AdaGrad; empty if not used

  Index num_rows() const { return factors.num_rows(); }
  friend bool operator==(const RatingRows&, const RatingRows&) = default;
};

// Regularisation of a row per rating.
template <class Real>
struct RowPull {
  Real factors = 0, bias = 0;
};
template <class Real>
struct RatingPulls {
  Array<RowPull<Real>> users, items;
};

// Sums of errors, which can be added.
struct ErrorSums {
  double squares = 0, magnitudes = 0;
  Index count = 0;

  void operator+=(const ErrorSums& other) {
    squares += other.squares;
    magnitudes += other.magnitudes;
    count += other.count;
  }
  friend bool operator==(const ErrorSums&, const ErrorSums&) = default;
};

}  // namespace polyad
