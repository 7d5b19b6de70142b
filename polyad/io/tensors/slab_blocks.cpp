#include "polyad/io/tensors/slab_blocks.hpp"

#include <algorithm>

#include "polyad/base/parallel.hpp"

namespace polyad::io {
namespace {

template <class T>
void close_gaps_in(Array<T>& column, const std::vector<Index>& begin, const std::vector<Index>& counts) {
  Index next = 0;
  for (std::size_t part = 0; part < counts.size(); ++part) {
    if (next != begin[part]) std::copy_n(column.begin() + begin[part], counts[part], column.begin() + next);
    next += counts[part];
  }
  column.resize(std::size_t(next));
}

}  // namespace

SlabBlock::SlabBlock(int order, Index capacity)
    : indices(std::size_t(order), Array<Index>(std::size_t(0))), values(std::size_t(capacity)) {
  for (auto& column : indices) column.resize(std::size_t(capacity));
}

void SlabBlock::close_gaps(const std::vector<Index>& begin, const std::vector<Index>& counts) {
  for (auto& column : indices) close_gaps_in(column, begin, counts);
  close_gaps_in(values, begin, counts);
}

template <class T, class Column>
Array<T> SlabBlocks::concatenated(Column column) {
  if (blocks_.size() == 1) return std::move(column(blocks_[0]));
  std::size_t size = 0;
  for (auto& block : blocks_) size += column(block).size();
  Array<T> all(size);
  std::size_t next = 0;
  for (auto& block : blocks_) {
    Array<T> piece = std::move(column(block));
    parallel_for(Index(piece.size()), [&](Index i) { all[next + std::size_t(i)] = piece[i]; });
    next += piece.size();
  }
  return all;
}

void SlabBlocks::concatenate(Slab& slab) && {
  slab.indices.clear();
  for (int m = 0; m < order_; ++m)
    slab.indices.push_back(
        concatenated<Index>([m](SlabBlock& block) -> Array<Index>& { return block.indices[m]; }));
  slab.values = concatenated<double>([](SlabBlock& block) -> Array<double>& { return block.values; });
  slab.facts.num_nonzeros = Index(slab.values.size());
}

}  // namespace polyad::io
