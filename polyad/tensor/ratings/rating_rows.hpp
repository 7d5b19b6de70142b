#pragma once

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"

namespace polyad {

// A rating, under the numbers that a process gives its users and items.
template <class Real>
struct LocalRating {
  LocalIndex user, item;
  Real value;

  friend bool operator==(const LocalRating&, const LocalRating&) = default;
};

// What training moves: a row per user, or per item. Columns of `factors` beyond the model's are zero.
template <class Real>
struct RatingRows {
  Matrix<Real> factors;
  Array<Real> biases;   // [row]
  Array<Real> squares;  // [row]: AdaGrad's memory; empty where it is not used

  Index num_rows() const { return factors.num_rows(); }
  friend bool operator==(const RatingRows&, const RatingRows&) = default;
};

// What pulls a row to zero with each of its ratings.
template <class Real>
struct RowPull {
  Real factors = 0, bias = 0;
};
template <class Real>
struct RatingPulls {
  Array<RowPull<Real>> users, items;
};

// Sums over errors, which add up.
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
