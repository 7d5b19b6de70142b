#pragma once

#include <algorithm>

#include "polyad/gpu/chunk_sums.hpp"
#include "polyad/kernels/cp/nonnegative_descent.hpp"
#include "polyad/kernels/cp/row_update.hpp"

// Starts of kernels. All memory is that of the GPU in use, but for the results of sum_blocks.
namespace polyad::gpu {

template <class Real>
void start_chunk_sums(int order, const ChunkView<Real>& x, const RowTables<Real>& tables, Columns<Real>* m,
                      Columns<Real>* carries);

template <class Real>
void start_carry_sums(const CarrySum* sums, Index num_sums, int num_lanes, const Columns<Real>* carries,
                      Columns<Real>* to);

// Rows a of a factor, from rows m of an MTTKRP, as a RowSystem says.
template <class Real>
struct RowUpdate {
  using Kind = kernels::RowSystem::Kind;

  Index begin = 0, end = 0;  // rows
  const Columns<Real>* m = nullptr;
  Columns<Real>* factor = nullptr;
  int num_lanes = 0;  // of a row
  Kind kind = Kind::solve;
  // As in the RowSystem; its kind says which are read.
  const Columns<Real>*inverse = nullptr, *v = nullptr;
  const Columns<Real>*start = nullptr, *scale = nullptr;
  double* block_sums = nullptr;  // [block][sum]: see num_sums

  int num_columns() const { return num_lanes * lane_width<Real>; }
};

// Rows are divided among blocks of threads, whose sums are then added up in their order: a number that does
// not depend on the GPU, so that neither do results.
inline constexpr int max_blocks = 512;
// Columns of a tile of the Gram matrix. Of the matrix, tiles on and above the diagonal are summed, row by
// row; the last sum is that of the products of m and a.
inline constexpr int gram_tile = 4;
template <class Number>
POLYAD_ON_DEVICE Number num_gram_tiles(Number num_columns) {
  const Number tiles = num_columns / gram_tile;
  return tiles * (tiles + 1) / 2;
}
// Of any number of columns: more than a GPU is given are counted before they are refused.
inline Index num_sums(Index num_columns) {
  return num_gram_tiles(num_columns) * gram_tile * gram_tile + 1;
}

// Returns the number of blocks.
template <class Real>
int start_row_update(const RowUpdate<Real>& update);

// to[sum] = the sum of block_sums[block][sum].
void start_block_sums(const double* block_sums, int num_blocks, Index sums_per_block, double* to);

}  // namespace polyad::gpu
