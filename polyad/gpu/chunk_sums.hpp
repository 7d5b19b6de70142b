#pragma once

#include <cstdint>

#include "polyad/base/on_device.hpp"
#include "polyad/base/types.hpp"

// What a thread of a GPU computes in a pass over nonzeros: some columns of the sums of one chunk. The same
// source also runs on the processor, where tests compare it with other kernels.
namespace polyad::gpu {

// Limits of the kernels.
inline constexpr int max_gpu_order = 8;
inline constexpr Index max_gpu_columns = 512;

// Values that are read and written at once.
template <class T, int Size>
struct alignas(sizeof(T) * Size <= 16 ? sizeof(T) * Size : 16) Pack {
  T x[Size];
};

// The columns of a row that a thread has, a lane: 16 bytes.
template <class Real>
using Columns = Pack<Real, 16 / sizeof(Real)>;
template <class Real>
inline constexpr int lane_width = 16 / int(sizeof(Real));

// Nonzeros that are read at once.
inline constexpr int batch_size = 4;

// Nonzeros in the order of a tree, with all their indices but that of the root, in chunks of equal length; at
// the end of the last are zeros. Every chunk sums the slices that begin and end in it to rows of the result,
// and the pieces of others to carries.
template <class Real>
struct ChunkView {
  LocalIndex num_chunks = 0, batches_per_chunk = 0;
  const Pack<Real, batch_size>* values = nullptr;
  const Pack<LocalIndex, batch_size>* ids[max_gpu_order] = {};  // [level], from 1
  // The number of nodes, one above the other, that end with a nonzero. With the last of a chunk all nodes end
  // but, possibly, its slice: sums are linear.
  const Pack<std::uint8_t, batch_size>* closing = nullptr;
  const LocalIndex* first_slice = nullptr;  // [chunk]
  const LocalIndex* rows = nullptr;         // [slice]
  const std::int32_t *head = nullptr,
                     *tail = nullptr;  // [chunk]: the carry of its first and last slice, or -1
};

// Rows of the factors, by level of the tree.
template <class Real>
struct RowTables {
  const Columns<Real>* rows[max_gpu_order] = {};
  int num_lanes = 0;  // of a row
};

template <class Real>
POLYAD_ON_DEVICE void add_scaled(Columns<Real>& sum, Real scale, const Columns<Real>& row) {
  for (int c = 0; c < lane_width<Real>; ++c) sum.x[c] += scale * row.x[c];
}
template <class Real>
POLYAD_ON_DEVICE void add_product(Columns<Real>& sum, const Columns<Real>& a, const Columns<Real>& b) {
  for (int c = 0; c < lane_width<Real>; ++c) sum.x[c] += a.x[c] * b.x[c];
}

// The sums of a chunk, for the columns of one lane. m: rows of the result.
template <class Real, int Order>
POLYAD_ON_DEVICE void sum_chunk(const ChunkView<Real>& x, const RowTables<Real>& tables, LocalIndex chunk,
                                int lane, Columns<Real>* m, Columns<Real>* carries) {
  constexpr int last = Order - 1;
  // Rows of so many nonzeros are under way at once: with more, threads would have more registers, and a
  // multiprocessor fewer threads.
  constexpr int at_once = Order <= 3 ? 4 : 2;
  const auto lanes = std::int64_t(tables.num_lanes);
  Columns<Real> sums[last] = {};  // [level]: of the children of its open node
  const LocalIndex* row = x.rows + x.first_slice[chunk];
  std::int32_t carry = x.head[chunk];
  const auto begin = std::int64_t(chunk) * x.batches_per_chunk;
  for (auto batch = begin; batch < begin + x.batches_per_chunk; ++batch) {
    const auto values = x.values[batch];
    const auto closing = x.closing[batch];
    Pack<LocalIndex, batch_size> ids[Order];
    POLYAD_UNROLL
    for (int level = 1; level < Order; ++level) ids[level] = x.ids[level][batch];
    POLYAD_UNROLL
    for (int first = 0; first < batch_size; first += at_once) {
      Columns<Real> factors[Order][at_once];  // all are asked for before the first is used
      POLYAD_UNROLL
      for (int level = last; level > 0; --level) {
        POLYAD_UNROLL
        for (int k = 0; k < at_once; ++k)
          if (closing.x[first + k] >= last - level)
            factors[level][k] = tables.rows[level][ids[level].x[first + k] * lanes + lane];
      }
      POLYAD_UNROLL
      for (int k = 0; k < at_once; ++k) {
        const int num_closing = closing.x[first + k];
        add_scaled(sums[last - 1], values.x[first + k], factors[last][k]);
        POLYAD_UNROLL
        for (int level = last - 1; level > 0; --level)
          if (num_closing >= last - level) {
            add_product(sums[level - 1], sums[level], factors[level][k]);
            sums[level] = {};
          }
        if (num_closing == last) {
          if (carry >= 0)
            carries[carry * lanes + lane] = sums[0];
          else
            m[*row * lanes + lane] = sums[0];
          ++row;
          carry = -1;
          sums[0] = {};
        }
      }
    }
  }
  if (x.tail[chunk] >= 0) carries[x.tail[chunk] * lanes + lane] = sums[0];
}

// The sum of consecutive carries, to be written to a row of the result or to a further carry.
struct CarrySum {
  LocalIndex target, first, count;
};
template <class Real>
POLYAD_ON_DEVICE void sum_carries(const CarrySum& sum, int num_lanes, int lane, const Columns<Real>* carries,
                                  Columns<Real>* to) {
  const auto lanes = std::int64_t(num_lanes);
  Columns<Real> total = carries[sum.first * lanes + lane];
  for (LocalIndex k = 1; k < sum.count; ++k) {
    const auto next = carries[(sum.first + k) * lanes + lane];
    for (int c = 0; c < lane_width<Real>; ++c) total.x[c] += next.x[c];
  }
  to[sum.target * lanes + lane] = total;
}

}  // namespace polyad::gpu
