#pragma once

#include <algorithm>
#include <array>

#include "polyad/tensor/local_tensor.hpp"

namespace polyad::kernels {

// Visits the cells of a tensor in any format whose row in a mode is in [begin, end): visit(at, z) with their
// rows in all modes and their number. The cells of a row come in the same order for any range.
template <class Real, class Visit>
void visit_cells(const CooTensor<Real>& x, int mode, Index begin, Index end, Visit& visit) {
  const auto& lists = x.rows[mode];
  std::array<LocalIndex, max_order> at{};
  for (Index i = lists.first[begin]; i < lists.first[end]; ++i) {
    const Index z = lists.nonzeros.empty() ? i : Index(lists.nonzeros[i]);
    for (int m = 0; m < x.order(); ++m) at[m] = x.tensor.indices(m)[z];
    visit(at.data(), z);
  }
}

template <class Real, class Visit>
void visit_cells(const HicooTensor<Real>& x, int mode, Index begin, Index end, Visit& visit) {
  if (begin == end) return;
  const auto& lists = x.rows[mode];
  std::array<LocalIndex, max_order> at{};
  const Index first_place = begin >> x.block_bits, last_place = (end - 1) >> x.block_bits;
  for (Index i = lists.first[first_place]; i < lists.first[last_place + 1]; ++i) {
    const Index block = lists.blocks[i];
    for (Index z = x.first[block]; z < x.first[block + 1]; ++z) {
      for (int m = 0; m < x.order(); ++m)
        at[m] = (x.places[m][block] << x.block_bits) + LocalIndex(x.offsets[m][z]);
      if (Index(at[mode]) >= begin && Index(at[mode]) < end) visit(at.data(), z);
    }
  }
}

// Passes over all nodes above the mode.
template <class Real, class Visit>
class TreeVisit {
 public:
  TreeVisit(const CsfTree<Real>& tree, int mode, Index begin, Index end, Visit& visit)
      : tree_(tree), level_of_mode_(tree.level_of(mode)), begin_(begin), end_(end), visit_(visit) {}

  void descend(int level, Index first, Index last) {
    const auto ids = tree_.ids(level);
    for (Index node = first; node < last; ++node) {
      if (level == level_of_mode_ && (Index(ids[node]) < begin_ || Index(ids[node]) >= end_)) continue;
      at_[tree_.modes()[level]] = ids[node];
      if (level == tree_.last_level())
        visit_(at_.data(), node);
      else
        descend(level + 1, tree_.first_child(level)[node], tree_.first_child(level)[node + 1]);
    }
  }

 private:
  const CsfTree<Real>& tree_;
  int level_of_mode_;
  Index begin_, end_;
  Visit& visit_;
  std::array<LocalIndex, max_order> at_{};
};

template <class Real, class Visit>
void visit_cells(const CsfTensor<Real>& x, int mode, Index begin, Index end, Visit& visit) {
  const auto& tree = x.trees.front();
  TreeVisit<Real, Visit>(tree, mode, begin, end, visit).descend(0, 0, tree.num_nodes(0));
}

}  // namespace polyad::kernels
