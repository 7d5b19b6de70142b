#pragma once

#include "polyad/tensor/kruskal.hpp"
#include "polyad/tensor/ratings/ranking_metrics.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Cells of a tensor with their values, some of which a model has not learned from.
struct SplitCells {
  SparseTensor<double> cells;
  Array<double> marks;  // [cell]: -1 where it is held out
};

// How well a model finds the held-out cells with positive values: for each combination of places of all modes
// but `item_mode` that has such cells, its items are listed by the values of the model, without those that
// the model has learned of there. The combinations are the users of the measures; of more than
// `max_contexts`, as many are chosen by chance, always the same. Popularity: the number of cells of an item
// that were learned from.
RankingMetrics rank_in_context(const Kruskal<double>& model, const SplitCells& split, int item_mode, Index k,
                               Index max_contexts = 10000);

}  // namespace polyad
