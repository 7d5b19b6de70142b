#pragma once

#include <cstdint>
#include <span>

#include "polyad/tensor/rating_model.hpp"
#include "polyad/tensor/rating_rows.hpp"

namespace polyad {

enum class RatingSide { user, item };

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

// From a model that was trained before, for ratings in units of `scale`: its rows, where it has them, of
// which model_rows says which (-1: none). The start, where it does not.
template <class Real>
RatingRows<Real> resumed_rows(RatingRows<Real> start, const RatingModel<Real>& model,
                              std::span<const Real> squares, RatingSide side, double scale,
                              std::span<const Index> model_rows);

// With all threads; what `to` was is lost, its memory is used again.
template <class Real>
void copy_rows(const RatingRows<Real>& from, RatingRows<Real>& to);

// Whether all numbers are such that a prediction from them is a number.
template <class Real>
bool are_bounded(const RatingRows<Real>& rows);

}  // namespace polyad
