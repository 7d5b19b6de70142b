#include "polyad/gpu/als_kernels.hpp"

#include "polyad/base/error.hpp"
#include "polyad/gpu/cuda_check.hpp"
#include "polyad/gpu/device.hpp"

namespace polyad::gpu {
namespace {

constexpr int max_threads = 256;  // of a block

// Blocks of groups of threads, of which each has the lanes of a row.
dim3 groups_of(int num_lanes) {
  return {unsigned(num_lanes), unsigned(max_threads / num_lanes)};
}
unsigned blocks_for(Index num_groups, const dim3& block) {
  return unsigned((num_groups + block.y - 1) / block.y);
}

template <class Real, int Order>
__global__ void __launch_bounds__(max_threads, Order <= 4 ? 3 : 1)
    chunk_sums(const ChunkView<Real> x, const RowTables<Real> tables, Columns<Real>* m,
               Columns<Real>* carries) {
  const LocalIndex chunk = blockIdx.x * blockDim.y + threadIdx.y;
  if (chunk < x.num_chunks) sum_chunk<Real, Order>(x, tables, chunk, int(threadIdx.x), m, carries);
}

template <class Real>
__global__ void carry_sums(const CarrySum* sums, Index num_sums, const Columns<Real>* carries,
                           Columns<Real>* to) {
  const Index sum = Index(blockIdx.x) * blockDim.y + threadIdx.y;
  if (sum < num_sums) sum_carries<Real>(sums[sum], int(blockDim.x), int(threadIdx.x), carries, to);
}

// The place of a tile among those on and above the diagonal, which are numbered row by row.
struct TilePlace {
  int i, j;
};
__device__ TilePlace place_of(int tile, int tiles_per_side) {
  int i = 0;
  for (int in_row = tiles_per_side; tile >= in_row; --in_row) {
    tile -= in_row;
    ++i;
  }
  return {i, i + tile};
}

constexpr int tile_size = gram_tile * gram_tile;

// Adds the products of the columns of a tile, for every stride-th of the rows.
template <class Real>
__device__ void add_gram(const Real* rows, int num_rows, int num_columns, int first, int stride,
                         const TilePlace& tile, double (&sums)[tile_size]) {
  for (int k = first; k < num_rows; k += stride) {
    const auto left = reinterpret_cast<const Pack<Real, gram_tile>*>(rows + k * num_columns)[tile.i];
    const auto right = reinterpret_cast<const Pack<Real, gram_tile>*>(rows + k * num_columns)[tile.j];
#pragma unroll
    for (int i = 0; i < gram_tile; ++i)
#pragma unroll
      for (int j = 0; j < gram_tile; ++j) sums[i * gram_tile + j] += double(left.x[i]) * double(right.x[j]);
  }
}

// The sum of a number of every thread of the block, in thread 0. `place` has room for one per thread.
__device__ double sum_of_block(double x, int thread, int num_threads, double* place) {
  place[thread] = x;
  for (int size = num_threads; size > 1;) {
    const int half = (size + 1) / 2;
    __syncthreads();
    if (thread + half < size) place[thread] += place[thread + half];
    size = half;
  }
  __syncthreads();
  return place[0];
}

// Several threads have sums of the same tile, of different rows.
__device__ void write_gram(const double (&sums)[tile_size], int thread, int num_tiles, int num_shares,
                           double* place, double* to) {
  __syncthreads();
  if (thread < num_tiles * num_shares)
#pragma unroll
    for (int e = 0; e < tile_size; ++e) place[thread * tile_size + e] = sums[e];
  __syncthreads();
  for (int e = thread; e < num_tiles * tile_size; e += int(blockDim.x * blockDim.y)) {
    double sum = 0;
    for (int share = 0; share < num_shares; ++share) sum += place[share * num_tiles * tile_size + e];
    to[e] = sum;
  }
}

constexpr int rows_per_group = 4;  // that are multiplied together

// to[k] += row k of the tile * matrix, for the columns of a lane and the rows of a group.
template <class Real>
__device__ void add_products(const Columns<Real>* tile, const Columns<Real>* matrix, int num_lanes, int lane,
                             Real sign, Columns<Real> (&to)[rows_per_group]) {
  constexpr int width = lane_width<Real>;
  for (int r = 0; r < num_lanes; ++r) {
    Columns<Real> left[rows_per_group];
#pragma unroll
    for (int k = 0; k < rows_per_group; ++k) left[k] = tile[k * num_lanes + r];
#pragma unroll
    for (int w = 0; w < width; ++w) {
      const auto right = matrix[(r * width + w) * num_lanes + lane];
#pragma unroll
      for (int k = 0; k < rows_per_group; ++k) add_scaled(to[k], sign * left[k].x[w], right);
    }
  }
}

using Kind = kernels::RowSystem::Kind;

// Nonnegative least squares by coordinate descent, as kernels::descend_nonnegative has it, for the rows of
// all groups of the block at once. a, rest: the columns of a lane. `steps` has room for two steps of every
// row.
template <class Real>
__device__ void descend(const RowUpdate<Real>& x, int lane, Columns<Real> (&a)[rows_per_group],
                        Columns<Real> (&rest)[rows_per_group],
                        kernels::EntryStep<Real> (*steps)[rows_per_group]) {
  constexpr int width = lane_width<Real>;
  constexpr auto end = kernels::usual_descent_end<Real>;
  const auto* const v = reinterpret_cast<const Real*>(x.v);
  const int lanes = x.num_lanes, n = lanes * width;
  bool goes_on[rows_per_group];
#pragma unroll
  for (int k = 0; k < rows_per_group; ++k) goes_on[k] = true;
  int turn = 0;
  for (int sweep = 0; sweep < end.max_sweeps; ++sweep) {
    Real farthest[rows_per_group] = {}, largest[rows_per_group] = {};
    for (int of_lane = 0; of_lane < lanes; ++of_lane) {
#pragma unroll
      for (int w = 0; w < width; ++w) {
        const int r = of_lane * width + w;
        auto* const shared = steps[turn];
        turn = 1 - turn;
        if (lane == of_lane) {
#pragma unroll
          for (int k = 0; k < rows_per_group; ++k) {
            shared[k] = goes_on[k] ? kernels::best_entry(a[k].x[w], rest[k].x[w], v[r * n + r])
                                   : kernels::EntryStep<Real>{};
            if (goes_on[k]) a[k].x[w] = shared[k].better;
          }
        }
        __syncthreads();
        const auto of_v = x.v[r * lanes + lane];
#pragma unroll
        for (int k = 0; k < rows_per_group; ++k) {
          const auto taken = shared[k];
          farthest[k] = max(farthest[k], abs(taken.step));
          largest[k] = max(largest[k], taken.better);
          add_scaled(rest[k], -taken.step, of_v);
        }
      }
    }
    bool any = false;
#pragma unroll
    for (int k = 0; k < rows_per_group; ++k) {
      goes_on[k] = goes_on[k] && farthest[k] > end.little * largest[k];
      any = any || goes_on[k];
    }
    if (!__syncthreads_or(any)) return;
  }
}

// Every block updates tiles of rows: products with the inverse or descents, the Gram matrix of the new rows,
// if it is small enough that each of its tiles has a thread, and the inner product with m.
template <class Real, Kind How, bool HasGram>
__global__ void __launch_bounds__(max_threads, How == Kind::solve ? 2 : 1)
    update_rows(const RowUpdate<Real> x) {
  extern __shared__ uint4 memory[];
  constexpr int width = lane_width<Real>;
  const int lanes = x.num_lanes, lane = int(threadIdx.x), n = lanes * width;
  const int num_groups = int(blockDim.y), rows_per_tile = num_groups * rows_per_group;
  const int thread = int(threadIdx.y * blockDim.x + threadIdx.x), num_threads = num_groups * lanes;
  auto* const tile = reinterpret_cast<Columns<Real>*>(memory);
  auto* const own = tile + threadIdx.y * rows_per_group * lanes;
  auto* const own_start = own + rows_per_tile * lanes;
  const int num_tiles = num_gram_tiles(n), num_shares = HasGram ? num_threads / num_tiles : 1;
  const bool has_tile = HasGram && thread < num_tiles * num_shares;
  const auto place = place_of(has_tile ? thread % num_tiles : 0, n / gram_tile);
  double gram[tile_size] = {};
  double inner = 0;
  for (Index first = x.begin + Index(blockIdx.x) * rows_per_tile; first < x.end;
       first += Index(gridDim.x) * rows_per_tile) {
    const Index own_first = first + threadIdx.y * rows_per_group;
    Columns<Real> m[rows_per_group], a[rows_per_group] = {};
#pragma unroll
    for (int k = 0; k < rows_per_group; ++k) {
      const auto of_m = own_first + k < x.end ? x.m[(own_first + k) * lanes + lane] : Columns<Real>{};
      if constexpr (How == Kind::solve)
        own[k * lanes + lane] = of_m;
      else
        m[k] = of_m;
    }
    if constexpr (How != Kind::solve) {
      Columns<Real> rest[rows_per_group];
#pragma unroll
      for (int k = 0; k < rows_per_group; ++k) {
        rest[k] = m[k];
        if (own_first + k < x.end) a[k] = x.factor[(own_first + k) * lanes + lane];
        for (int c = 0; c < width; ++c) {
          a[k].x[c] *= x.start[lane].x[c];
          if constexpr (How == Kind::descend) a[k].x[c] = max(a[k].x[c], Real{});
        }
        own_start[k * lanes + lane] = a[k];
      }
      __syncthreads();
      add_products(own_start, x.v, lanes, lane, Real(-1), rest);
      if constexpr (How == Kind::descend) {
        __syncthreads();  // steps take the place of rows
        descend(x, lane, a, rest,
                reinterpret_cast<kernels::EntryStep<Real>(*)[rows_per_group]>(memory) + threadIdx.y * 2);
      }
#pragma unroll
      for (int k = 0; k < rows_per_group; ++k) {
        if constexpr (How == Kind::correct) own[k * lanes + lane] = rest[k];
        for (int c = 0; c < width; ++c) a[k].x[c] *= x.scale[lane].x[c];
      }
    }
    __syncthreads();
    if constexpr (How != Kind::descend) add_products(own, x.inverse, lanes, lane, Real(1), a);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < rows_per_group; ++k) {
      const auto of_m = How == Kind::solve ? own[k * lanes + lane] : m[k];
      for (int c = 0; c < width; ++c) inner += double(of_m.x[c]) * double(a[k].x[c]);
      if (own_first + k < x.end)
        x.factor[(own_first + k) * lanes + lane] = a[k];
      else
        a[k] = {};
      own[k * lanes + lane] = a[k];
    }
    __syncthreads();
    if (has_tile)
      add_gram(reinterpret_cast<const Real*>(tile), rows_per_tile, n, thread / num_tiles, num_shares, place,
               gram);
    __syncthreads();
  }
  auto* const sums = x.block_sums + Index(blockIdx.x) * (num_tiles * tile_size + 1);
  auto* const scratch = reinterpret_cast<double*>(memory);
  inner = sum_of_block(inner, thread, num_threads, scratch);
  if (thread == 0) sums[num_tiles * tile_size] = inner;
  if constexpr (HasGram) write_gram(gram, thread, num_tiles, num_shares, scratch, sums);
}

// The Gram matrix of wider rows: every block has some of its tiles, and every thread one of these.
template <class Real>
__global__ void __launch_bounds__(max_threads)
    wide_gram(const Columns<Real>* factor, Index begin, Index end, int num_lanes, int rows_per_tile,
              double* block_sums) {
  extern __shared__ uint4 memory[];
  auto* const rows = reinterpret_cast<Columns<Real>*>(memory);
  const int n = num_lanes * lane_width<Real>, num_tiles = num_gram_tiles(n);
  const int tile = int(blockIdx.y) * max_threads + int(threadIdx.x);
  const auto place = place_of(tile < num_tiles ? tile : 0, n / gram_tile);
  double gram[tile_size] = {};
  for (Index first = begin + Index(blockIdx.x) * rows_per_tile; first < end;
       first += Index(gridDim.x) * rows_per_tile) {
    const Index rest = end - first;
    const int count = rest < rows_per_tile ? int(rest) : rows_per_tile;
    for (int k = int(threadIdx.x); k < count * num_lanes; k += max_threads)
      rows[k] = factor[first * num_lanes + k];
    __syncthreads();
    if (tile < num_tiles) add_gram(reinterpret_cast<const Real*>(rows), count, n, 0, 1, place, gram);
    __syncthreads();
  }
  if (tile < num_tiles)
#pragma unroll
    for (int e = 0; e < tile_size; ++e)
      block_sums[Index(blockIdx.x) * (num_tiles * tile_size + 1) + tile * tile_size + e] = gram[e];
}

constexpr int sums_side = 32, shares_of_blocks = 8;

__global__ void __launch_bounds__(sums_side* shares_of_blocks)
    sum_blocks(const double* block_sums, int num_blocks, Index sums_per_block, double* to) {
  __shared__ double shares[shares_of_blocks][sums_side];
  const Index entry = Index(blockIdx.x) * sums_side + threadIdx.x;
  const int begin = int(threadIdx.y) * num_blocks / shares_of_blocks;
  const int end = int(threadIdx.y + 1) * num_blocks / shares_of_blocks;
  double sum = 0;
  if (entry < sums_per_block)
#pragma unroll 8
    for (int block = begin; block < end; ++block) sum += block_sums[block * sums_per_block + entry];
  shares[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || entry >= sums_per_block) return;
  for (int share = 1; share < shares_of_blocks; ++share) sum += shares[share][threadIdx.x];
  to[entry] = sum;
}

template <class Real, int Order>
void start_chunk_sums_of(int order, const ChunkView<Real>& x, const RowTables<Real>& tables, Columns<Real>* m,
                         Columns<Real>* carries) {
  if constexpr (Order < max_gpu_order)
    if (order > Order) return start_chunk_sums_of<Real, Order + 1>(order, x, tables, m, carries);
  const auto block = groups_of(tables.num_lanes);
  chunk_sums<Real, Order><<<blocks_for(x.num_chunks, block), block>>>(x, tables, m, carries);
}

}  // namespace

bool has_kernels_for(int index) {
  use_device(index);
  cudaFuncAttributes attributes;
  const bool is_there = cudaFuncGetAttributes(&attributes, sum_blocks) == cudaSuccess;
  cudaGetLastError();
  return is_there;
}

template <class Real>
void start_chunk_sums(int order, const ChunkView<Real>& x, const RowTables<Real>& tables, Columns<Real>* m,
                      Columns<Real>* carries) {
  if (x.num_chunks == 0) return;
  start_chunk_sums_of<Real, min_order>(order, x, tables, m, carries);
  check_start("summing chunks");
}

template <class Real>
void start_carry_sums(const CarrySum* sums, Index num_sums, int num_lanes, const Columns<Real>* carries,
                      Columns<Real>* to) {
  if (num_sums == 0) return;
  const auto block = groups_of(num_lanes);
  carry_sums<Real><<<blocks_for(num_sums, block), block>>>(sums, num_sums, carries, to);
  check_start("adding carries");
}

template <class Real>
int start_row_update(const RowUpdate<Real>& update) {
  const int lanes = update.num_lanes, n = update.num_columns(), num_tiles = num_gram_tiles(n);
  const auto block = groups_of(lanes);
  const auto num_threads = int(block.x * block.y), rows_per_tile = int(block.y) * rows_per_group;
  const auto rows = update.end - update.begin;
  const auto blocks = int(std::clamp<Index>((rows + rows_per_tile - 1) / rows_per_tile, 1, max_blocks));
  const bool has_gram = num_tiles <= num_threads;
  const auto row_bytes = Index(lanes) * Index(sizeof(Columns<Real>));
  auto bytes = rows_per_tile * row_bytes * (update.kind == Kind::solve ? 1 : 2);
  bytes = std::max(bytes, 2 * rows_per_tile * Index(sizeof(kernels::EntryStep<Real>)));
  bytes = std::max(bytes, Index(num_threads) * Index(sizeof(double)));
  if (has_gram) bytes = std::max(bytes, Index(num_threads) * tile_size * Index(sizeof(double)));
  const auto start = [&](auto kernel) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)),
          "setting the memory of a block");
    kernel<<<blocks, block, std::size_t(bytes)>>>(update);
  };
  const auto start_kind = [&](auto gram) {
    constexpr bool with_gram = decltype(gram)::value;
    if (update.kind == Kind::solve)
      start(update_rows<Real, Kind::solve, with_gram>);
    else if (update.kind == Kind::correct)
      start(update_rows<Real, Kind::correct, with_gram>);
    else
      start(update_rows<Real, Kind::descend, with_gram>);
  };
  if (has_gram)
    start_kind(std::true_type());
  else
    start_kind(std::false_type());
  check_start("updating rows");
  if (!has_gram) {
    const auto rows_at_once = int(std::max<Index>(1, 32768 / row_bytes));
    const dim3 grid(unsigned(blocks), unsigned((num_tiles + max_threads - 1) / max_threads));
    wide_gram<Real><<<grid, max_threads, std::size_t(rows_at_once * row_bytes)>>>(
        update.factor, update.begin, update.end, lanes, rows_at_once, update.block_sums);
    check_start("multiplying rows");
  }
  return blocks;
}

void start_block_sums(const double* block_sums, int num_blocks, Index sums_per_block, double* to) {
  const auto blocks = unsigned((sums_per_block + sums_side - 1) / sums_side);
  sum_blocks<<<blocks, dim3(sums_side, shares_of_blocks)>>>(block_sums, num_blocks, sums_per_block, to);
  check_start("adding sums of blocks");
}

template void start_chunk_sums(int, const ChunkView<float>&, const RowTables<float>&, Columns<float>*,
                               Columns<float>*);
template void start_chunk_sums(int, const ChunkView<double>&, const RowTables<double>&, Columns<double>*,
                               Columns<double>*);
template void start_carry_sums(const CarrySum*, Index, int, const Columns<float>*, Columns<float>*);
template void start_carry_sums(const CarrySum*, Index, int, const Columns<double>*, Columns<double>*);
template int start_row_update(const RowUpdate<float>&);
template int start_row_update(const RowUpdate<double>&);

}  // namespace polyad::gpu
