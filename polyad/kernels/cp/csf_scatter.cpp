#include <cassert>

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/cp/csf_sweep.hpp"
#include "polyad/kernels/cp/tree_walk.hpp"

namespace polyad::kernels {
namespace {

// The MTTKRP of a level below the root: the product of the rows above, on the way down.
template <class Real, int Width, int Depth>
class Scatter {
 public:
  Scatter(const CutTree<Real>& x, std::span<const Matrix<Real>> factors, int level, PartialRows<Real>& m)
      : tree_(x.tree), cuts_(x.cuts), walk_(x.tree, factors), target_level_(level), m_(m) {}

  void run() {
    parallel_for(m_.num_parts(), [&](Index p) { run_part(int(p), cuts_[p], cuts_[p + 1]); });
  }

 private:
  void run_part(int p, Index begin, Index end) {
    if (begin == end) return;
    Array<Real> products(std::size_t(walk_.n() * tree_.order()));  // a row per level
    Index root = tree_.parent(1, begin);
    for (Index node = begin; node < end; ++root) {
      const Index stop = std::min(end, walk_.first_child(0, root + 1));
      scatter_slice(node, stop, walk_.row(0, root), m_.part(p), products.data());
      node = stop;
    }
  }

  void scatter_slice(Index begin, Index end, const Real* above, Real* target, Real* products) {
    if (walk_.last_level() == 1) return scatter_below(begin, end, above, target);
    for (Index node = begin; node < end; ++node) {
      walk_.look_ahead(1, node, 0);
      if (target_level_ == 1)
        scatter_sum(1, node, above, target);
      else if (walk_.last_level() == 2)
        scatter_below(1, node, above, target);
      else
        descend(1, node, above, target, products);
      walk_.look_ahead_more(1, node, 0);
    }
  }

  // target[id of node] += above * the sum below it
  void scatter_sum(int level, Index node, const Real* above, Real* target) const {
    Real* to = target + Index(walk_.id(level, node)) * walk_.n();
    for_blocks<Real, Width>(
        walk_.n(), [&](Index c, auto width) __attribute__((always_inline)) {
          using B = Block<Real, width>;
          auto sum = B::load(to + c);
          sum.add_product(B::load(above + c), walk_.template sum_below<width>(level, node, c));
          sum.store(to + c);
        });
  }

  // target[id] += value * above * row of the node, for the nonzeros below a node
  [[gnu::always_inline]] void scatter_below(int level, Index node, const Real* above, Real* target) const {
    const Index begin = walk_.first_child(level, node), end = walk_.first_child(level, node + 1);
    for_blocks<Real, Width>(
        walk_.n(), [&](Index c, auto width) __attribute__((always_inline)) {
          using B = Block<Real, width>;
          B product;
          product.add_product(B::load(above + c), walk_.row(level, node) + c,
                              walk_.row_ahead(level, node) + c);
          walk_.template scatter_nonzeros<width>(begin, end, product, c, target);
        });
  }
  // The same for nonzeros right below the root.
  void scatter_below(Index begin, Index end, const Real* above, Real* target) const {
    for_blocks<Real, Width>(walk_.n(), [&](Index c, auto width) {
      walk_.template scatter_nonzeros<width>(begin, end, Block<Real, width>::load(above + c), c, target);
    });
  }

  void descend(int level, Index node, const Real* above, Real* target, Real* product) {
    const Real* row = walk_.row(level, node);
    for (Index c = 0; c < walk_.n(); ++c) product[c] = above[c] * row[c];
    for (Index child = walk_.first_child(level, node); child < walk_.first_child(level, node + 1); ++child) {
      walk_.look_ahead(level + 1, child, 0);
      if (level + 1 == target_level_)
        scatter_sum(level + 1, child, product, target);
      else if (level + 2 == walk_.last_level())
        scatter_below(level + 1, child, product, target);
      else
        descend(level + 1, child, product, target, product + walk_.n());
      walk_.look_ahead_more(level + 1, child, 0);
    }
  }

  const CsfTree<Real>& tree_;
  std::span<const Index> cuts_;
  TreeWalk<Real, Width, Depth> walk_;
  int target_level_;
  PartialRows<Real>& m_;
};

// For one part of a tree.
template <class Real, int Width>
void scatter_sums_of_part(const CutTree<Real>& x, int p, const Matrix<Real>& root_factor,
                          const Array<Real>& below, Real* target) {
  const Index n = Width > 0 ? Width : root_factor.num_cols();
  const auto roots = x.tree.ids(0), nodes = x.tree.ids(1);
  const auto first_node = x.tree.first_child(0);
  Index node = x.cuts[p];
  const Index end = x.cuts[p + 1];
  if (node == end) return;
  const auto sums_of = [&](Index of) { return below.data() + (of - x.cuts.front()) * n; };
  constexpr Index chunk = 256;  // so few that their sums stay in the cache, where rows have several blocks
  for (Index root = x.tree.parent(1, node); node < end; ++root)
    for (const Index stop = std::min(end, first_node[root + 1]); node < stop;) {
      const Index count = std::min(chunk, stop - node);
      add_times_sums<Real, Width>(root_factor.row(roots[root]).data(), sums_of(node), nodes.data() + node,
                                  count, target, n);
      node += count;
    }
}

}  // namespace

template <class Real>
void scatter_kept_sums(const CutTree<Real>& x, const Matrix<Real>& root_factor, const Array<Real>& below,
                       PartialRows<Real>& parts) {
  assert(parts.num_parts() == x.num_parts());
  with_width(root_factor.num_cols(), [&](auto width) {
    parallel_for(parts.num_parts(), [&](Index p) {
      scatter_sums_of_part<Real, width>(x, int(p), root_factor, below, parts.part(int(p)));
    });
  });
}

template <class Real>
void scatter_mttkrp(const CutTree<Real>& x, std::span<const Matrix<Real>> factors, int level,
                    PartialRows<Real>& m) {
  assert(level > 0 && m.num_parts() == x.num_parts());
  with_shape(m.num_components(), x.tree.order(),
             [&](auto width, auto depth) { Scatter<Real, width, depth>(x, factors, level, m).run(); });
}

template void scatter_kept_sums(const CutTree<float>&, const Matrix<float>&, const Array<float>&,
                                PartialRows<float>&);
template void scatter_kept_sums(const CutTree<double>&, const Matrix<double>&, const Array<double>&,
                                PartialRows<double>&);
template void scatter_mttkrp(const CutTree<float>&, std::span<const Matrix<float>>, int, PartialRows<float>&);

template void scatter_mttkrp(const CutTree<double>&, std::span<const Matrix<double>>, int,
                             PartialRows<double>&);

}  // namespace polyad::kernels
