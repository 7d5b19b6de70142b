#include "polyad/gpu/cell_kernels.hpp"

#include <algorithm>

#include "polyad/gpu/cuda_check.hpp"

namespace polyad::gpu {
namespace {

constexpr int max_threads_of_system = 256;
constexpr int max_shares = 4;  // of the cells of a panel, among threads with the same tile
constexpr int tile_entries = system_tile * system_tile;

// Memory of a block: the system, operands of the cells of a panel, and vectors.
template <class Real>
struct BlockMemory {
  __device__ BlockMemory(const SystemShape& shape, void* memory)
      : system(static_cast<Real*>(memory)),
        left(system + shape.size()),
        right(left + cells_of_panel * shape.rows()),
        diagonal(right + cells_of_panel * shape.columns()),
        x(diagonal + shape.rows()) {}
  static std::size_t bytes(const SystemShape& shape) {
    return sizeof(Real) * std::size_t(shape.size_in_block());
  }

  Real *system, *left, *right, *diagonal, *x;
};

struct Tile {
  int top, left;
};
__device__ Tile tile_at(int number, const SystemShape& shape) {
  int i = 0;
  for (int in_row = shape.columns() / system_tile; number >= in_row; --in_row) {
    number -= in_row;
    ++i;
  }
  return {i * system_tile, (i + number) * system_tile};
}

// The system of a piece, in the memory of the block. Every thread sums tiles.
template <class Real, int TilesPerThread>
__device__ void sum_piece(const CellView<Real>& cells, const CellPiece& piece, const BlockMemory<Real>& at) {
  const SystemShape shape{cells.num_unknowns()};
  const int rows = shape.rows(), columns = shape.columns(), num_tiles = shape.num_tiles();
  const int thread = int(threadIdx.x), num_threads = int(blockDim.x);
  const int num_shares = TilesPerThread > 1 ? 1 : min(num_threads / num_tiles, max_shares);
  const int share = TilesPerThread > 1 ? 0 : thread / num_tiles;
  Tile tiles[TilesPerThread];
  bool is_mine[TilesPerThread];
  Real sums[TilesPerThread][tile_entries] = {};
#pragma unroll
  for (int t = 0; t < TilesPerThread; ++t) {
    const int number = TilesPerThread > 1 ? thread + t * num_threads : thread % num_tiles;
    is_mine[t] = number < num_tiles && share < num_shares;
    tiles[t] = tile_at(is_mine[t] ? number : 0, shape);
  }
  for (int e = thread; e < shape.size(); e += num_threads) at.system[e] = Real{};
  for (Index first = piece.begin; first < piece.end; first += cells_of_panel) {
    const int count = int(min(Index(cells_of_panel), piece.end - first));
    for (int e = thread; e < count * columns; e += num_threads) {
      const int k = e / columns, u = e - k * columns;
      Real left, right;
      cells.operands(first + k, u, left, right);
      if (u < rows) at.left[k * rows + u] = left;
      at.right[e] = right;
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < TilesPerThread; ++t) {
      if (!is_mine[t]) continue;
      for (int k = share; k < count; k += num_shares) {
        const auto left =
            *reinterpret_cast<const Pack<Real, system_tile>*>(at.left + k * rows + tiles[t].top);
        const auto right =
            *reinterpret_cast<const Pack<Real, system_tile>*>(at.right + k * columns + tiles[t].left);
#pragma unroll
        for (int i = 0; i < system_tile; ++i)
#pragma unroll
          for (int j = 0; j < system_tile; ++j) sums[t][i * system_tile + j] += left.x[i] * right.x[j];
      }
    }
    __syncthreads();
  }
  for (int turn = 0; turn < num_shares; ++turn) {
    __syncthreads();
    if (turn != share) continue;
#pragma unroll
    for (int t = 0; t < TilesPerThread; ++t) {
      if (!is_mine[t]) continue;
#pragma unroll
      for (int e = 0; e < tile_entries; ++e)
        at.system[(tiles[t].top + e / system_tile) * columns + tiles[t].left + e % system_tile] += sums[t][e];
    }
  }
  __syncthreads();
}

// Cholesky factorisation of the system in the memory of the block, with the right-hand side as one more
// column, and back substitution to at.x. False: it is not positive definite in this precision.
template <class Real>
__device__ bool solve_system(const SystemShape& shape, const BlockMemory<Real>& at) {
  constexpr int warp = 32;
  const int n = shape.num_unknowns, columns = shape.columns();
  const int thread = int(threadIdx.x), num_threads = int(blockDim.x);
  for (int k = thread; k < n; k += num_threads) at.diagonal[k] = at.system[k * columns + k];
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    Real* const row = at.system + k * columns;
    const Real pivot = row[k];
    if (!is_pivot(pivot, at.diagonal[k])) return false;
    const Real inverse = 1 / sqrt(pivot);
    __syncthreads();
    for (int j = k + thread; j <= n; j += num_threads) row[j] = j == k ? inverse : row[j] * inverse;
    __syncthreads();
    for (int i = k + 1 + thread / warp; i < n; i += num_threads / warp)
      for (int j = i + thread % warp; j <= n; j += warp) at.system[i * columns + j] -= row[i] * row[j];
    __syncthreads();
  }
  for (int k = n - 1; k >= 0; --k) {
    const Real x = at.system[k * columns + n] * at.system[k * columns + k];
    if (thread == 0) at.x[k] = x;
    for (int i = thread; i < k; i += num_threads)
      at.system[i * columns + n] -= at.system[i * columns + k] * x;
    __syncthreads();
  }
  return true;
}

// Solves the system of a slice, whose cells were summed.
template <class Real>
__device__ void solve_slice(const SystemsView<Real>& x, LocalIndex slice, const BlockMemory<Real>& at) {
  const auto shape = x.shape();
  const int columns = shape.columns(), thread = int(threadIdx.x), num_threads = int(blockDim.x);
  const Index row = x.rows[slice];
  if (x.background != nullptr)
    for (int e = thread; e < shape.size(); e += num_threads) at.system[e] += x.background[e];
  __syncthreads();
  for (int u = thread; u < shape.num_unknowns; u += num_threads)
    at.system[u * columns + u] += u < x.cells.num_factors ? x.ridge[row] : x.bias_ridge[row];
  __syncthreads();
  if (!solve_system(shape, at)) {
    if (thread == 0) x.is_singular[slice] = 1;
    return;
  }
  for (int c = thread; c < x.cells.num_columns; c += num_threads)
    x.factor[row * x.cells.num_columns + c] = x.entry(at.x, c);
}

template <class Real, int TilesPerThread>
__global__ void __launch_bounds__(max_threads_of_system) solve_pieces(const SystemsView<Real> x) {
  extern __shared__ uint4 memory[];
  const auto shape = x.shape();
  const BlockMemory<Real> at(shape, memory);
  const auto piece = x.pieces[blockIdx.x];
  sum_piece<Real, TilesPerThread>(x.cells, piece, at);
  if (piece.partial < 0) return solve_slice(x, piece.slice, at);
  Real* const to = x.partial + Index(piece.partial) * shape.size();
  for (int e = int(threadIdx.x); e < shape.size(); e += int(blockDim.x)) to[e] = at.system[e];
}

template <class Real>
__global__ void __launch_bounds__(max_threads_of_system) solve_cut_slices(const SystemsView<Real> x) {
  extern __shared__ uint4 memory[];
  const auto shape = x.shape();
  const BlockMemory<Real> at(shape, memory);
  const auto slice = x.cut_slices[blockIdx.x];
  for (int e = int(threadIdx.x); e < shape.size(); e += int(blockDim.x)) {
    Real sum = 0;
    for (int k = 0; k < slice.count; ++k) sum += x.partial[Index(slice.first + k) * shape.size() + e];
    at.system[e] = sum;
  }
  __syncthreads();
  solve_slice(x, slice.slice, at);
}

int threads_for(const SystemShape& shape) {
  int threads = 64;
  while (threads < max_threads_of_system && threads < shape.num_tiles()) threads *= 2;
  return threads;
}

template <class Kernel>
void set_memory(Kernel kernel, std::size_t bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)),
        "setting the memory of a block");
}

constexpr int threads_of_cell = 8, threads_of_errors = 256;
constexpr unsigned whole_warp = 0xffffffff;

// Several threads multiply the rows of a cell; the first of them adds its errors.
template <class Real>
__global__ void __launch_bounds__(threads_of_errors) sum_errors(const ErrorsView<Real> x, CellErrorSums* to) {
  constexpr int cells_at_once = threads_of_errors / threads_of_cell;
  __shared__ CellErrorSums shared[cells_at_once];
  const int part = int(threadIdx.x) % threads_of_cell, group = int(threadIdx.x) / threads_of_cell;
  const Index begin = Index(blockIdx.x) * cells_per_block;
  const Index end = min(begin + cells_per_block, x.cells.num_cells);
  CellErrorSums sums = {};
  for (Index first = begin; first < end; first += cells_at_once) {
    const Index cell = first + group;
    Real m = 0;
    if (cell < end)
      for (int c = part; c < x.cells.num_columns; c += threads_of_cell)
        m += x.factor[Index(x.row_of[cell]) * x.cells.num_columns + c] * x.cells.product(cell, c);
    for (int distance = threads_of_cell / 2; distance > 0; distance /= 2)
      m += __shfl_xor_sync(whole_warp, m, distance);
    if (cell >= end || part != 0) continue;
    const auto of_cell = x.errors(cell, m);
    for (int i = 0; i < CellErrorSums::count; ++i) sums.x[i] += of_cell.x[i];
  }
  if (part == 0) shared[group] = sums;
  __syncthreads();
  if (threadIdx.x >= CellErrorSums::count) return;
  double sum = 0;
  for (int g = 0; g < cells_at_once; ++g) sum += shared[g].x[threadIdx.x];
  to[blockIdx.x].x[threadIdx.x] = sum;
}

}  // namespace

template <class Real>
void start_row_systems(const SystemsView<Real>& systems) {
  const auto shape = systems.shape();
  const auto bytes = BlockMemory<Real>::bytes(shape);
  const int threads = threads_for(shape), per_thread = (shape.num_tiles() + threads - 1) / threads;
  const auto start = [&](auto kernel) {
    if (systems.num_pieces == 0) return;
    set_memory(kernel, bytes);
    kernel<<<unsigned(systems.num_pieces), threads, bytes>>>(systems);
    check_start("summing systems");
  };
  if (per_thread == 1)
    start(solve_pieces<Real, 1>);
  else if (per_thread == 2)
    start(solve_pieces<Real, 2>);
  else
    start(solve_pieces<Real, 3>);
  if (systems.num_cut_slices == 0) return;
  set_memory(solve_cut_slices<Real>, bytes);
  solve_cut_slices<Real><<<unsigned(systems.num_cut_slices), threads, bytes>>>(systems);
  check_start("solving systems");
}

template <class Real>
void start_cell_errors(const ErrorsView<Real>& view, CellErrorSums* to) {
  const auto blocks = unsigned((view.cells.num_cells + cells_per_block - 1) / cells_per_block);
  if (blocks == 0) return;
  sum_errors<Real><<<blocks, threads_of_errors>>>(view, to);
  check_start("summing errors");
}

template void start_row_systems(const SystemsView<float>&);
template void start_row_systems(const SystemsView<double>&);
template void start_cell_errors(const ErrorsView<float>&, CellErrorSums*);
template void start_cell_errors(const ErrorsView<double>&, CellErrorSums*);

}  // namespace polyad::gpu
