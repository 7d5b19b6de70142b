#pragma once

#include <cstdint>
#include <span>

#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/ratings/rating_rows.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"

namespace polyad::kernels {

struct RatingStart {
  Index num_factors = 1;
  bool has_biases = true;
  bool is_adaptive = false;  // squares are needed
  std::uint64_t seed = 1;
};

// Where training starts: small numbers that are functions of the seed, the side, the global row and the
// factor only. With biases they are normal around zero; the plain model, which has to reach the mean by
// factors alone, starts with positive ones. Rows from num_trained on, which nothing is learned about, are
// zero.
template <class Real>
RatingRows<Real> start_rows(const RatingStart& start, RatingSide side, std::span<const Index> global_rows,
                            Index num_trained);

// num_ratings: [row]: of training; 0 is as 1.
template <class Real>
Array<RowPull<Real>> row_pulls(const Shrinkage& shrinkage, std::span<const Index> num_ratings);

// What ratings are learned in units of.
struct RatingUnits {
  double mean = 0, scale = 1;
};

// From a model that was trained before, in these units: its rows, where it has them, of which model_rows says
// which (-1: none). The start, where it does not. Users take what the mean has changed by into their biases.
template <class Real>
RatingRows<Real> resumed_rows(RatingRows<Real> start, const RatingModel<Real>& model,
                              std::span<const Real> squares, RatingSide side, const RatingUnits& units,
                              std::span<const Index> model_rows);

// One side of a model, with AdaGrad's memory; biases and squares may be empty.
template <class Real>
struct ModelSide {
  const Matrix<Real>& factors;
  const Array<Real>&biases, &squares;
};
template <class Real>
struct ModelSideToChange {
  Matrix<Real>& factors;
  Array<Real>&biases, &squares;
};
// Copies rows of an earlier model to rows that are zero now. model_rows: [row]: that of the earlier model, -1
// where it has none; empty: the same. The shift is added to their biases.
template <class Real>
void keep_rows(const ModelSide<Real>& earlier, std::span<const Index> model_rows, Real shift,
               const ModelSideToChange<Real>& now);

// With all threads; what `to` was is lost, its memory is used again.
template <class Real>
void copy_rows(const RatingRows<Real>& from, RatingRows<Real>& to);

// Whether all numbers are such that a prediction from them is a number.
template <class Real>
bool are_bounded(const RatingRows<Real>& rows);

}  // namespace polyad::kernels
