#pragma once

#include <vector>

#include "polyad/hypergraph/hypergraph.hpp"
#include "polyad/hypergraph/partition_kinds.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::hypergraph {

// The hypergraphs whose partitions distribute a tensor (ALGORITHMS, section 2). Slices without nonzeros have
// neither net nor vertex.

// A vertex per nonzero, a net per slice index.
struct FineModel {
  Hypergraph h;
  SparseTensor<double, LocalIndex> cells;  // the vertices' coordinates, sorted, without empty slices
  Array<LocalIndex> vertex_of;             // [nonzero of the tensor]: those that repeat have the same
};
FineModel fine_model(const SparseTensor<double>& x);

// With a vertex per slice index too, after those of the nonzeros and in the order of the nets: the part of
// that owns the row. As many constraints as modes, and one: nonzeros, then the rows of each mode.
Hypergraph with_row_vertices(const FineModel& model);

// A vertex per slice index of every mode, mode after mode; a net per slice index, with all vertices of other
// modes that share a nonzero with it, and its own. Nonzeros that repeat count once, as they become one.
struct SliceModel {
  Hypergraph h;
  std::vector<Array<Index>> slices;  // [mode]: those that have vertices, ascending
};
SliceModel coarse_model(const SparseTensor<double>& x, SliceWeights weights);

// Of a matrix: a vertex per row, as heavy as it has nonzeros; a net per column. With mode 1 the columns are
// the rows. `slices` are those of the vertices, then those of the nets.
SliceModel row_model(const SparseTensor<double>& x, int mode = 0);

}  // namespace polyad::hypergraph
