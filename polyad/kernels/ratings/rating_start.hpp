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
  bool is_adaptive = false;  // whether squared gradients are needed
  std::uint64_t seed = 1;
};

// Initial values of training: small random numbers, functions of the seed, the
// side, the global row and the factor only. With biases they are normal with
// mean zero; without biases, where factors alone must reproduce the mean, they
// are positive. Rows from num_trained on, without training ratings, are zero.
template <class Real>
RatingRows<Real> start_rows(const RatingStart& start, RatingSide side, std::span<const Index> global_rows,
                            Index num_trained);

// num_ratings: [row]: number of training ratings; 0 counts as 1.
template <class Real>
Array<RowPull<Real>> row_pulls(const Shrinkage& shrinkage, std::span<const Index> num_ratings);

// Shift and scale of ratings in training.
struct RatingUnits {
  double mean = 0, scale = 1;
};

// Initial values from an earlier model, in these units: its rows where it has them, given by
// model_rows (-1: none), random ones elsewhere. A change of the mean is added to the biases of users.
template <class Real>
RatingRows<Real> resumed_rows(RatingRows<Real> start, const RatingModel<Real>& model,
                              std::span<const Real> squares, RatingSide side, const RatingUnits& units,
                              std::span<const Index> model_rows);

// One side of a model, with the state of AdaGrad; biases and squares may be empty.
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
// Copies rows of an earlier model to rows that are zero. model_rows: [row]: the row of
// the earlier model, -1: none; empty: the same. The shift is added to their biases.
template <class Real>
void keep_rows(const ModelSide<Real>& earlier, std::span<const Index> model_rows, Real shift,
               const ModelSideToChange<Real>& now);

// Copies with all threads; reuses the memory of `to`.
template <class Real>
void copy_rows(const RatingRows<Real>& from, RatingRows<Real>& to);

// Whether all numbers are finite and predictions from them will be.
template <class Real>
bool are_bounded(const RatingRows<Real>& rows);

}  // namespace polyad::kernels
