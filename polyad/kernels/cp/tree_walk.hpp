#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "polyad/base/matrix.hpp"
#include "polyad/kernels/block.hpp"
#include "polyad/tensor/csf.hpp"

namespace polyad::kernels {

// Sums over subtrees: the inner loops of all passes over a tree. Width: the number of components, or
// 0 if known at run time only. Depth: the number of levels below the second, 1 or 2, or 0 if known
// at run time only: loops of known depth are nested without calls, and sums stay in registers.
template <class Real, int Width, int Depth>
class TreeWalk {
 public:
  TreeWalk(const CsfTree<Real>& tree, std::span<const Matrix<Real>> factors)
      : last_(tree.last_level()), n_(factors[0].num_cols()), values_(tree.values().data()) {
    for (int level = 0; level <= last_; ++level) {
      const auto& factor = factors[tree.modes()[level]];
      table_[level] = factor.flat().data();
      ids_[level] = tree.ids(level).data();
      if (level < last_) first_child_[level] = tree.first_child(level).data();
    }
  }

  Index n() const { return Width > 0 ? Width : n_; }
  int last_level() const { return Depth > 0 ? Depth + 1 : last_; }
  LocalIndex id(int level, Index node) const { return ids_[level][node]; }
  Index first_child(int level, Index node) const { return first_child_[level][node]; }
  // The factor row of a node.
  const Real* row(int level, Index node) const { return table_[level] + Index(ids_[level][node]) * n(); }

  // The factor row of a node further ahead, to be prefetched.
  const Real* row_ahead(int level, Index node) const { return row(level, node + distance); }

  // Prefetches the arrays of a level further ahead, which hardware does not detect
  // between random rows. In two halves, to be called with arithmetic in between.
  [[gnu::always_inline]] void look_ahead(int level, Index node, Index c) const {
    if (c == 0) __builtin_prefetch(first_child_[level] + node + 64);
  }
  [[gnu::always_inline]] void look_ahead_more(int level, Index node, Index c) const {
    if (c == 0) __builtin_prefetch(ids_[level] + node + 128);
  }

  // B components, from the c-th, of the sum over the children of a node of their own sum
  // (or value) times their row: the contribution of the subtree to the row above it.
  template <int B>
  [[gnu::always_inline]] Block<Real, B> sum_below(int level, Index node, Index c) const {
    if constexpr (Depth == 0) {
      if (level + 1 < last_) return sum_children_by_call<B>(level, node, c);
    } else if constexpr (Depth == 2) {
      if (level == 1) return sum_children<B>(level, node, c);
    }
    return sum_nonzeros_of<B>(level, node, c);
  }

  // Whether each of the nodes [begin, end) of the second level has exactly one nonzero below it.
  bool has_single_nonzeros(Index begin, Index end) const {
    return first_child_[1][end] - first_child_[1][begin] == end - begin;
  }

  // The sum of value times row over a range of nonzeros.
  template <int B>
  [[gnu::always_inline]] Block<Real, B> sum_nonzeros(Index begin, Index end, Index c) const {
    const auto* ids = ids_[last_level()];
    const Real* table = table_[last_level()];
    Block<Real, B> sum;
    if (c == 0) __builtin_prefetch(values_ + begin + 128);
    for (Index z = begin; z < end; ++z)
      sum.add_scaled(values_[z], table + Index(ids[z]) * n() + c, table + Index(ids[z + distance]) * n() + c);
    if (c == 0) __builtin_prefetch(ids + begin + 256);
    return Block<Real, B>(sum);  // a copy: compilers keep a sum in memory that is made where it is returned
  }

  // target[id] += value * h over a range of nonzeros.
  template <int B>
  [[gnu::always_inline]] void scatter_nonzeros(Index begin, Index end, const Block<Real, B>& h, Index c,
                                               Real* target) const {
    const auto* ids = ids_[last_level()];
    if (c == 0) __builtin_prefetch(values_ + begin + 128);
    for (Index z = begin; z < end; ++z)
      h.add_scaled_to(target + Index(ids[z]) * n() + c, values_[z],
                      target + Index(ids[z + distance]) * n() + c);
    if (c == 0) __builtin_prefetch(ids + begin + 256);
  }

  // Both in one loop.
  template <int B>
  [[gnu::always_inline]] Block<Real, B> sum_and_scatter_nonzeros(Index begin, Index end,
                                                                 const Block<Real, B>& h, Index c,
                                                                 Real* target) const {
    const auto* ids = ids_[last_level()];
    const Real* table = table_[last_level()];
    Block<Real, B> sum;
    if (c == 0) __builtin_prefetch(values_ + begin + 128);
    for (Index z = begin; z < end; ++z) {
      const Index at = Index(ids[z]) * n() + c, soon = Index(ids[z + distance]) * n() + c;
      sum.add_scaled(values_[z], table + at, table + soon);
      h.add_scaled_to(target + at, values_[z], target + soon);
    }
    if (c == 0) __builtin_prefetch(ids + begin + 256);
    return Block<Real, B>(sum);
  }

 private:
  static constexpr Index distance = 16;  // of prefetching rows, in nodes
  static_assert(distance <= Index(csf_look_ahead));

  template <int B>
  [[gnu::always_inline]] Block<Real, B> sum_nonzeros_of(int level, Index node, Index c) const {
    return sum_nonzeros<B>(first_child_[level][node], first_child_[level][node + 1], c);
  }
  template <int B>
  [[gnu::always_inline]] Block<Real, B> sum_children(int level, Index node, Index c) const {
    Block<Real, B> sum;
    for (Index child = first_child_[level][node]; child < first_child_[level][node + 1]; ++child) {
      look_ahead(level + 1, child, c);
      const auto part = sum_below_child<B>(level + 1, child, c);
      sum.add_product(part, row(level + 1, child) + c, row_ahead(level + 1, child) + c);
      look_ahead_more(level + 1, child, c);
    }
    return Block<Real, B>(sum);
  }
  template <int B>
  [[gnu::always_inline]] Block<Real, B> sum_below_child(int level, Index node, Index c) const {
    if constexpr (Depth == 0)
      return sum_below<B>(level, node, c);
    else
      return sum_nonzeros_of<B>(level, node, c);
  }
  template <int B>
  [[gnu::noinline]] Block<Real, B> sum_children_by_call(int level, Index node, Index c) const {
    return sum_children<B>(level, node, c);
  }

  int last_;
  Index n_;
  const Real* values_;
  std::array<const Real*, max_order> table_{};
  std::array<const LocalIndex*, max_order> ids_{};
  std::array<const Index*, max_order> first_child_{};
};

// target[id] += row * its sum, for nodes with these ids, which csf_look_ahead others follow; a row of n sums
// each.
template <class Real, int Width>
[[gnu::always_inline]] inline void add_times_sums(const Real* row, const Real* sums, const LocalIndex* ids,
                                                  Index num_nodes, Real* target, Index n) {
  for_blocks<Real, Width>(
      n, [&](Index c, auto width) __attribute__((always_inline)) {
        using B = Block<Real, width>;
        const auto times = B::load(row + c);
        for (Index node = 0; node < num_nodes; ++node)
          B::load(sums + node * n + c)
              .add_product_to(target + Index(ids[node]) * n + c, times,
                              target + Index(ids[node + 8]) * n + c);
      });
}

// Calls fn(width, depth) with compile-time constants for TreeWalk.
template <class Fn>
void with_shape(Index num_components, int order, Fn fn) {
  with_width(num_components, [&](auto width) {
    if (order == 3) return fn(width, std::integral_constant<int, 1>{});
    if (order == 4) return fn(width, std::integral_constant<int, 2>{});
    return fn(width, std::integral_constant<int, 0>{});
  });
}

}  // namespace polyad::kernels
