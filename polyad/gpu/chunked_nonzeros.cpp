#include "polyad/gpu/chunked_nonzeros.hpp"

#include <algorithm>
#include <cassert>

#include "polyad/base/parallel.hpp"
#include "polyad/gpu/als_kernels.hpp"

namespace polyad::gpu {
namespace {

// Two of a chunk, and sums of these.
Index max_carries(Index num_nonzeros) {
  const Index num_chunks = (num_nonzeros + usual_chunk_size - 1) / usual_chunk_size;
  return 2 * num_chunks + 2 * num_chunks / Index(carries_per_sum - 1) + 1;
}

}  // namespace

template <class Real>
ChunkedNonzeros<Real>::ChunkedNonzeros(const CsfTree<Real>& tree, Index size)
    : order(tree.order()),
      num_chunks((tree.num_nonzeros() + size - 1) / size),
      num_slices(tree.num_nodes(0)),
      chunk_size(size),
      ids(std::size_t(tree.order())) {
  assert(size % batch_size == 0);
  copy_levels(tree);
  cut_slices(tree);
}

template <class Real>
void ChunkedNonzeros<Real>::copy_levels(const CsfTree<Real>& tree) {
  const int last = tree.last_level();
  const auto padded = std::size_t(num_chunks * chunk_size);
  const auto roots = tree.ids(0).first(std::size_t(num_slices));
  rows.assign(roots.begin(), roots.end());
  values.assign(padded, Real{});
  std::ranges::copy(tree.values(), values.begin());
  closing.assign(padded, std::uint8_t{});
  for (int level = last; level >= 0; --level) {
    if (level > 0) ids[level].assign(padded, LocalIndex{});
    parallel_for(tree.num_nodes(level), [&](Index node) {
      const Index begin = tree.first_nonzero(level, node), end = tree.first_nonzero(level, node + 1);
      if (level > 0) std::fill_n(ids[level].begin() + begin, end - begin, tree.ids(level)[node]);
      if (level < last) closing[end - 1] = std::uint8_t(last - level);
    });
  }
  parallel_for(num_chunks, [&](Index chunk) {
    auto& of_last = closing[std::min((chunk + 1) * chunk_size, tree.num_nonzeros()) - 1];
    of_last = std::max(of_last, std::uint8_t(last - 1));
  });
  for (const int num_closing : closing) num_gathered += 1 + std::min(num_closing, last - 1);
}

template <class Real>
void ChunkedNonzeros<Real>::cut_slices(const CsfTree<Real>& tree) {
  std::vector<CarrySum> pieces;
  Index slice = 0;
  const auto end_of = [&](Index of_slice) { return tree.first_nonzero(0, of_slice + 1); };
  const auto next_carry = [&] { return std::int32_t(num_carries++); };
  for (Index chunk = 0; chunk < num_chunks; ++chunk) {
    const Index begin = chunk * chunk_size, end = std::min(begin + chunk_size, tree.num_nonzeros());
    while (end_of(slice) <= begin) ++slice;
    first_slice.push_back(LocalIndex(slice));
    const bool begins_before = tree.first_nonzero(0, slice) < begin;
    const bool ends_here = end_of(slice) <= end;
    head.push_back(begins_before && ends_here ? next_carry() : -1);
    if (begins_before) ++pieces.back().count;
    while (end_of(slice) < end) ++slice;
    const bool goes_on = end_of(slice) > end;
    tail.push_back(goes_on ? next_carry() : -1);
    if (goes_on && tree.first_nonzero(0, slice) >= begin)
      pieces.push_back({rows[slice], LocalIndex(num_carries - 1), 1});
  }
  plan_sums(std::move(pieces));
}

template <class Real>
void ChunkedNonzeros<Real>::plan_sums(std::vector<CarrySum> pieces) {
  for (bool is_done = false; !is_done;) {
    is_done = true;
    std::vector<CarrySum> round;
    for (auto& piece : pieces) {
      if (piece.count <= carries_per_sum) continue;
      const auto end = piece.first + piece.count;
      const auto first_sum = LocalIndex(num_carries);
      for (auto first = piece.first; first < end; first += carries_per_sum)
        round.push_back({LocalIndex(num_carries++), first, std::min(carries_per_sum, end - first)});
      piece.first = first_sum;
      piece.count = LocalIndex(num_carries) - first_sum;
      is_done = false;
    }
    if (!round.empty()) rounds.push_back(std::move(round));
  }
  row_sums = std::move(pieces);
}

Index chunked_bytes(int order, Index num_nonzeros, Index num_slices, Index value_bytes) {
  const Index num_chunks = (num_nonzeros + usual_chunk_size - 1) / usual_chunk_size;
  return num_chunks * usual_chunk_size * (value_bytes + Index(sizeof(LocalIndex)) * (order - 1) + 1) +
         num_chunks * 3 * Index(sizeof(LocalIndex)) + num_slices * Index(sizeof(LocalIndex)) +
         max_carries(num_nonzeros) * Index(sizeof(CarrySum));
}

// Nonzeros and factors of all modes; sums and carries of one mode at a time; systems, and sums of blocks.
Index passes_bytes(std::span<const ModeCounts> modes, Index num_columns, Index value_bytes) {
  const Index row_bytes = num_columns * value_bytes;
  Index bytes =
      2 * (num_columns + 1) * row_bytes + max_blocks * num_sums(num_columns) * Index(sizeof(double));
  Index max_rows = 0, carries = 0;
  for (const auto& mode : modes) {
    bytes += mode.num_rows * row_bytes +
             chunked_bytes(int(modes.size()), mode.num_nonzeros, mode.num_rows, value_bytes);
    max_rows = std::max(max_rows, mode.num_rows);
    carries = std::max(carries, max_carries(mode.num_nonzeros));
  }
  return bytes + (max_rows + carries) * row_bytes;
}

template struct ChunkedNonzeros<float>;
template struct ChunkedNonzeros<double>;

}  // namespace polyad::gpu
