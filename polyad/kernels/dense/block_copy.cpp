#include "polyad/kernels/dense/block_copy.hpp"

#include <algorithm>
#include <cstdlib>

#include "polyad/base/parallel.hpp"

namespace polyad::kernels {
namespace {

constexpr Index copy_tile = 16;                  // numbers along an axis: two cache lines of doubles
constexpr Index worth_threads = Index(1) << 15;  // numbers; waking threads takes as long as copying these
constexpr Index numbers_at_once = Index(1) << 12;

// Sorted by where they write, without loops of one step; neighbours that are one loop on both sides are one.
std::vector<CopyLoop> normalised(std::vector<CopyLoop> loops) {
  std::erase_if(loops, [](const CopyLoop& loop) { return loop.extent == 1; });
  std::ranges::sort(loops, {}, &CopyLoop::to_stride);
  std::vector<CopyLoop> result;
  for (const auto& loop : loops) {
    if (!result.empty()) {
      auto& inner = result.back();
      if (loop.from_stride == inner.from_stride * inner.extent &&
          loop.to_stride == inner.to_stride * inner.extent) {
        inner.extent *= loop.extent;
        continue;
      }
    }
    result.push_back(loop);
  }
  if (result.empty()) result.push_back({1, 1, 1});
  return result;
}

template <CopyMode Mode, class Real>
void put(Real value, Real& place) {
  if constexpr (Mode == CopyMode::add)
    place += value;
  else
    place = value;
}

template <CopyMode Mode, class Real>
void copy_row(const CopyLoop& row, const Real* from, Real* to) {
  if (row.from_stride == 1 && row.to_stride == 1)
    for (Index i = 0; i < row.extent; ++i) put<Mode>(from[i], to[i]);
  else
    for (Index i = 0; i < row.extent; ++i) put<Mode>(from[i * row.from_stride], to[i * row.to_stride]);
}

// A row is along the memory that is written, a column along that which is read.
template <CopyMode Mode, class Real>
void copy_tiles(const CopyLoop& row, const CopyLoop& column, const Real* from, Real* to) {
  for (Index r = 0; r < row.extent; r += copy_tile) {
    const CopyLoop part{std::min(copy_tile, row.extent - r), row.from_stride, row.to_stride};
    for (Index c = 0; c < column.extent; ++c)
      copy_row<Mode>(part, from + r * row.from_stride + c * column.from_stride,
                     to + r * row.to_stride + c * column.to_stride);
  }
}

// Rows as a whole: they go along the memory that is read as well.
template <CopyMode Mode, class Real>
void copy_columns(const CopyLoop& row, const CopyLoop& column, const Real* from, Real* to) {
  for (Index c = 0; c < column.extent; ++c)
    copy_row<Mode>(row, from + c * column.from_stride, to + c * column.to_stride);
}

// The loops around rows and columns, counted as one: which places do they begin at?
class OuterLoops {
 public:
  explicit OuterLoops(std::vector<CopyLoop> loops) : loops_(std::move(loops)) {}

  Index count() const {
    Index count = 1;
    for (const auto& loop : loops_) count *= loop.extent;
    return count;
  }
  template <class Real>
  void advance_to(Index i, const Real*& from, Real*& to) const {
    for (const auto& loop : loops_) {
      from += i % loop.extent * loop.from_stride;
      to += i % loop.extent * loop.to_stride;
      i /= loop.extent;
    }
  }

 private:
  std::vector<CopyLoop> loops_;
};

// The loop along the memory that is read, if that is not the innermost one anyway.
std::size_t column_of(const std::vector<CopyLoop>& loops) {
  const auto nearest =
      std::ranges::min_element(loops, {}, [](const CopyLoop& loop) { return std::abs(loop.from_stride); });
  return std::size_t(nearest - loops.begin());
}

template <class Fn>
void for_each(Index n, bool with_threads, Fn fn) {
  if (with_threads)
    parallel_for(n, fn);
  else
    for (Index i = 0; i < n; ++i) fn(i);
}

// What is done at once: a stretch of columns, or of the row where there are no columns.
struct Pieces {
  CopyLoop cut;
  Index length, count;

  Pieces(const CopyLoop& loop, Index longest)
      : cut(loop), length(std::max(longest, Index(1))), count((loop.extent + length - 1) / length) {}
  CopyLoop at(Index i) const {
    return {std::min(length, cut.extent - i * length), cut.from_stride, cut.to_stride};
  }
};

template <CopyMode Mode, class Real>
void copy_normalised(std::vector<CopyLoop> loops, const Real* from, Real* to) {
  const std::size_t along = column_of(loops);
  const bool in_tiles = along > 0, has_columns = loops.size() > 1;
  const CopyLoop row = loops[0], column = has_columns ? loops[in_tiles ? along : 1] : CopyLoop{1, 0, 0};
  if (has_columns) loops.erase(loops.begin() + std::ptrdiff_t(in_tiles ? along : 1));
  loops.erase(loops.begin());
  const OuterLoops outer(std::move(loops));
  const Pieces pieces = has_columns ? Pieces(column, in_tiles ? copy_tile : numbers_at_once / row.extent)
                                    : Pieces(row, numbers_at_once);
  const Index count = outer.count() * pieces.count;
  const bool is_large = outer.count() * row.extent * column.extent >= worth_threads;
  for_each(count, is_large && num_threads() > 1, [&](Index i) {
    const Real* source = from;
    Real* target = to;
    outer.advance_to(i / pieces.count, source, target);
    const Index piece = i % pieces.count;
    source += piece * pieces.length * pieces.cut.from_stride;
    target += piece * pieces.length * pieces.cut.to_stride;
    if (in_tiles)
      copy_tiles<Mode>(row, pieces.at(piece), source, target);
    else if (has_columns)
      copy_columns<Mode>(row, pieces.at(piece), source, target);
    else
      copy_row<Mode>(pieces.at(piece), source, target);
  });
}

}  // namespace

template <class Real>
void copy_block(std::vector<CopyLoop> loops, const Real* from, Real* to, CopyMode mode) {
  if (std::ranges::any_of(loops, [](const CopyLoop& loop) { return loop.extent <= 0; })) return;
  loops = normalised(std::move(loops));
  if (mode == CopyMode::add)
    copy_normalised<CopyMode::add>(std::move(loops), from, to);
  else
    copy_normalised<CopyMode::replace>(std::move(loops), from, to);
}
template void copy_block(std::vector<CopyLoop>, const float*, float*, CopyMode);
template void copy_block(std::vector<CopyLoop>, const double*, double*, CopyMode);

std::vector<Index> column_major_strides(std::span<const Index> extents) {
  std::vector<Index> strides;
  Index stride = 1;
  for (const Index extent : extents) {
    strides.push_back(stride);
    stride *= extent;
  }
  return strides;
}

}  // namespace polyad::kernels
