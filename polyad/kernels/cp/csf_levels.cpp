#include <array>
#include <cassert>

#include "polyad/kernels/cp/csf_root_pass.hpp"

namespace polyad::kernels {
namespace {

// Several MTTKRPs from one pass. A node of a level has P, the product of the rows of the nodes above it, and
// S, the sum over its children of their own sum (or value) times their row: P S is what it adds to the MTTKRP
// of its level's mode. Partial products are on the way from the root to the node only: nothing is stored.
template <class Real, int Width, int Depth>
class LevelsPass {
  using Pass = RootPass<Real, Width, Depth>;
  using Targets = std::array<Real*, max_order>;  // [level]: where a part adds the rows; the root's is unused

 public:
  LevelsPass(const CutTree<Real>& x, std::span<const Matrix<Real>> factors, std::span<Matrix<Real>* const> m,
             std::span<PartialRows<Real>> parts)
      : pass_(x, factors), num_levels_(int(m.size())), num_columns_(m[0]->num_cols()), m_(m), parts_(parts) {}

  void run() {
    sum_all_slices(pass_, *m_[0], 0, [&](int p, Index root, Index begin, Index end, Real* to) {
      sum_slice(root, begin, end, to, targets_of(p));
    });
  }

 private:
  Targets targets_of(int p) const {
    Targets targets{};
    for (int level = 1; level < num_levels_; ++level)
      targets[level] = p == 0 ? m_[level]->flat().data() : parts_[level - 1].part(p - 1);
    return targets;
  }

  [[gnu::noinline]] void sum_slice(Index root, Index begin, Index end, Real* to,
                                   const Targets& targets) const {
    const auto& walk = pass_.walk();
    const Real* const row = walk.row(0, root);
    if constexpr (Depth == 0)
      if (walk.last_level() == 1)
        return for_blocks<Real, Width>(num_columns_, [&](Index c, auto width) {
          const auto h = Block<Real, width>::load(row + c);
          walk.template sum_and_scatter_nonzeros<width>(begin, end, h, c, targets[1]).store(to + c);
        });
    // As in RootPass: over so few nodes that these stay in the cache.
    constexpr Index chunk = 256;
    for (Index first = begin; first < end; first += chunk)
      sum_nodes(row, {first, std::min(end, first + chunk)}, first > begin, to, targets);
  }

  [[gnu::always_inline]] void sum_nodes(const Real* root_row, const NodeRange& nodes, bool goes_on, Real* to,
                                        const Targets& targets) const {
    const auto& walk = pass_.walk();
    for_blocks<Real, Width>(
        num_columns_, [&](Index c, auto width) __attribute__((always_inline)) {
          using B = Block<Real, width>;
          const auto above = B::load(root_row + c);
          B sum = goes_on ? B::load(to + c) : B();
          for (Index node = nodes.begin; node < nodes.end; ++node) {
            walk.look_ahead(1, node, c);
            const B part = visit<width, 1>(1, node, above, c, targets);
            sum.add_product(part, walk.row(1, node) + c, walk.row_ahead(1, node) + c);
            walk.look_ahead_more(1, node, c);
          }
          sum.store(to + c);
        });
  }

  // Adds P S of a node to its row, if its level is wanted, and returns S. above: P. Level: as `level`, unless
  // depth is known at run time only.
  template <int B, int Level>
  [[gnu::always_inline]] Block<Real, B> visit(int level, Index node, const Block<Real, B>& above, Index c,
                                              const Targets& targets) const {
    const auto& walk = pass_.walk();
    const auto sum = sum_below<B, Level>(level, node, above, c, targets);
    if (level < num_levels_) {
      Real* const target = targets[level] + c;
      sum.add_product_to(target + Index(walk.id(level, node)) * walk.n(), above,
                         target + Index(walk.id(level, node + 8)) * walk.n());
    }
    return Block<Real, B>(sum);  // a copy, as in TreeWalk
  }

  template <int B, int Level>
  [[gnu::always_inline]] Block<Real, B> sum_below(int level, Index node, const Block<Real, B>& above, Index c,
                                                  const Targets& targets) const {
    const auto& walk = pass_.walk();
    if (level + 1 >= num_levels_) return walk.template sum_below<B>(level, node, c);
    auto product = above;
    product *= Block<Real, B>::load(walk.row(level, node) + c);
    if constexpr (Depth == 0) {
      if (level + 1 < walk.last_level()) return sum_children_by_call<B>(level, node, product, c, targets);
    } else if constexpr (Level < Depth) {
      return sum_children<B, Level>(level, node, product, c, targets);
    }
    return walk.template sum_and_scatter_nonzeros<B>(
        walk.first_child(level, node), walk.first_child(level, node + 1), product, c, targets[level + 1]);
  }

  template <int B, int Level>
  [[gnu::always_inline]] Block<Real, B> sum_children(int level, Index node, const Block<Real, B>& product,
                                                     Index c, const Targets& targets) const {
    const auto& walk = pass_.walk();
    Block<Real, B> sum;
    for (Index child = walk.first_child(level, node); child < walk.first_child(level, node + 1); ++child) {
      walk.look_ahead(level + 1, child, c);
      const auto part = visit<B, Level + (Depth > 0 ? 1 : 0)>(level + 1, child, product, c, targets);
      sum.add_product(part, walk.row(level + 1, child) + c, walk.row_ahead(level + 1, child) + c);
      walk.look_ahead_more(level + 1, child, c);
    }
    return Block<Real, B>(sum);
  }
  template <int B>
  [[gnu::noinline]] Block<Real, B> sum_children_by_call(int level, Index node, const Block<Real, B>& product,
                                                        Index c, const Targets& targets) const {
    return sum_children<B, 1>(level, node, product, c, targets);
  }

  Pass pass_;
  int num_levels_;
  Index num_columns_;
  std::span<Matrix<Real>* const> m_;
  std::span<PartialRows<Real>> parts_;
};

// Blocks are narrower than elsewhere where rows are wide: three of them per level should stay in registers.
// Then there is nothing to compile for the width of a row.
template <class Real>
constexpr int levels_width(int width) {
  return width * int(sizeof(Real)) <= 128 ? width : 0;
}

}  // namespace

template <class Real>
void top_mttkrps(const CutTree<Real>& x, std::span<const Matrix<Real>> factors,
                 std::span<Matrix<Real>* const> m, std::span<PartialRows<Real>> parts) {
  assert(!m.empty() && std::ssize(m) <= x.tree.order());
  if (m.size() == 1) return root_mttkrp(x, factors, *m[0]);
  for (std::size_t level = 0; level < m.size(); ++level) {
    assert(level == 0 || parts[level - 1].num_parts() + 1 >= x.num_parts());
    if (level > 0 || x.num_slices() < m[0]->num_rows())
      parallel_for(m[level]->num_rows(), [&](Index row) { std::ranges::fill(m[level]->row(row), Real{}); });
  }
  with_shape(m[0]->num_cols(), x.tree.order(), [&](auto width, auto depth) {
    LevelsPass<Real, levels_width<Real>(width), depth>(x, factors, m, parts).run();
  });
  for (std::size_t level = 1; level < m.size(); ++level) add_to(parts[level - 1], *m[level]);
}

template void top_mttkrps(const CutTree<float>&, std::span<const Matrix<float>>,
                          std::span<Matrix<float>* const>, std::span<PartialRows<float>>);
template void top_mttkrps(const CutTree<double>&, std::span<const Matrix<double>>,
                          std::span<Matrix<double>* const>, std::span<PartialRows<double>>);

}  // namespace polyad::kernels
