#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "polyad/kernels/ratings/item_neighbours.hpp"
#include "polyad/kernels/ratings/top_items.hpp"
#include "polyad/tensor/ratings/ranking_metrics.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::kernels {

// Default threshold: the mean of the training ratings. Both tensors are users x items with the extents
// of the model, otherwise Error{bad_input}. Memory: a copy of the ratings, and a batch of users. `between` is
// called before each batch; what it throws ends the measurement.
template <class Real>
RankingMetrics measure_ranking(const RatingModel<Real>& model, const SparseTensor<double>& training,
                               const SparseTensor<double>& held_out, Index k,
                               std::optional<double> threshold = {},
                               const std::function<void()>& between = {});

// The NDCG of lists with each of `terms` in place of those of the model, in much less time: other measures
// need the places of all items. `neighbours` may be null where their weights are zero.
template <class Real>
std::vector<double> measure_ndcg(const RatingModel<Real>& model, const SparseTensor<double>& training,
                                 const SparseTensor<double>& held_out, Index k,
                                 std::optional<double> threshold, std::span<const ScoreTerms<Real>> terms,
                                 const ItemNeighbours* neighbours);

}  // namespace polyad::kernels
