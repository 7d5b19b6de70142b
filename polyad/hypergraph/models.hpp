#pragma once

#include <vector>

#include "polyad/hypergraph/hypergraph.hpp"
#include "polyad/hypergraph/partition_kinds.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::hypergraph {

// Hypergraph models whose partitions distribute a tensor (docs/algorithms.md, "Hypergraph partitioning").
// Slices without nonzeros have neither net nor vertex.

// The fine-grain model: a vertex per nonzero, a net per slice.
struct FineModel {
  Hypergraph h;
  SparseTensor<double, LocalIndex> cells;  // coordinates of the vertices, sorted, without empty slices
  Array<LocalIndex> vertex_of;             // [nonzero of the tensor]; duplicates have the same vertex
};
FineModel fine_model(const SparseTensor<double>& x);

// The fine-grain model with an additional vertex per slice, after those of the nonzeros and in the order
// of the nets: its part owns the row. One constraint for nonzeros, then one for the rows of each mode.
Hypergraph with_row_vertices(const FineModel& model);

// The coarse-grain model: a vertex per slice of every mode, mode by mode; a net per slice, with its own
// vertex and those of all slices of other modes that share a nonzero with it. Duplicates count once.
struct SliceModel {
  Hypergraph h;
  std::vector<Array<Index>> slices;  // [mode]: slices that have vertices, ascending
};
SliceModel coarse_model(const SparseTensor<double>& x, SliceWeights weights);

// The model of a matrix: a vertex per row, weighted by its nonzeros, and a net per column;
// with mode 1 vice versa. `slices` are those of the vertices, then those of the nets.
SliceModel row_model(const SparseTensor<double>& x, int mode = 0);

}  // namespace polyad::hypergraph
