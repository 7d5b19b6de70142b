#pragma once

#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/ratings/rating_rows.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::kernels {

// Errors of the predictions of a model, clipped to a range, at ratings (users x items) within it. The same
// bits for any number of threads.
template <class Real>
ErrorSums model_errors(const RatingModel<Real>& model, const SparseTensor<double>& ratings,
                       const RatingRange& range);

}  // namespace polyad::kernels
