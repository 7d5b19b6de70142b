#pragma once

#include <span>
#include <utility>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/dense/dense_layout.hpp"

namespace polyad::dense {

inline constexpr int max_dense_order = 12;

// The part of a dense tensor on one process: its elements in generalised column-major order (the
// first mode varies fastest), by ascending indices. A scalar is a tensor of order 0 with one element.
template <class Real>
class DenseTensor {
 public:
  // Uninitialised. Not collective.
  DenseTensor(ProcessGrid grid, std::vector<Index> extents, TensorDistribution distribution);
  // With existing elements.
  DenseTensor(ProcessGrid grid, std::vector<Index> extents, TensorDistribution distribution,
              Array<Real> local);

  const ProcessGrid& grid() const { return grid_; }
  const DenseLayout& layout() const { return layout_; }
  const TensorDistribution& distribution() const { return layout_.distribution; }
  const std::vector<Index>& extents() const { return layout_.extents; }
  int order() const { return layout_.order(); }

  std::vector<CyclicRange> share() const { return share_of(layout_, grid_.comm().rank()); }
  std::span<Real> local() { return local_; }
  std::span<const Real> local() const { return local_; }
  Array<Real> copy_local() const { return local_; }
  Array<Real> take_local() { return std::move(local_); }

 private:
  ProcessGrid grid_;
  DenseLayout layout_;
  Array<Real> local_;
};

// Calls fn(global indices, local offset) for every element of a share, in the order of memory.
template <class Fn>
void for_each_element(const std::vector<CyclicRange>& share, Fn fn) {
  std::vector<Index> index, local(share.size(), 0);
  for (const auto& range : share) {
    if (range.count == 0) return;
    index.push_back(range.first);
  }
  for (Index offset = 0;; ++offset) {
    fn(std::span<const Index>(index), offset);
    std::size_t m = 0;
    for (; m < share.size() && ++local[m] == share[m].count; ++m) {
      local[m] = 0;
      index[m] = share[m].first;
    }
    if (m == share.size()) return;
    index[m] += share[m].step;
  }
}

// Sets every element to fn(its global indices).
template <class Real, class Fn>
void fill(DenseTensor<Real>& x, Fn fn) {
  if (x.local().empty()) return;
  for_each_element(x.share(), [&](std::span<const Index> index, Index offset) {
    x.local()[std::size_t(offset)] = Real(fn(index));
  });
}

}  // namespace polyad::dense
