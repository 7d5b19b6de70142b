#pragma once

#include <optional>

#include "polyad/tensor/ratings/ranking_metrics.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::kernels {

// No threshold: the mean of the ratings in the training. Both tensors are users x items and have the extents
// of the model, else Error{bad_input}. Memory: the ratings once more, and a batch of users.
template <class Real>
RankingMetrics measure_ranking(const RatingModel<Real>& model, const SparseTensor<double>& training,
                               const SparseTensor<double>& held_out, Index k,
                               std::optional<double> threshold = {});

}  // namespace polyad::kernels
