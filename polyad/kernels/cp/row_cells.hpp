#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "polyad/kernels/cp/row_systems.hpp"
#include "polyad/kernels/cp/symmetric_system.hpp"

namespace polyad::kernels {

// Prefetches as many entries of a list as there are in [begin, end), from a place that memory has brought by
// the time that it is read. It may be past the end.
template <class T>
void prefetch_list(const T* list, Index begin, Index end) {
  constexpr Index line = 64 / sizeof(T), ahead = 16 * line;
  for (Index i = begin; i < end; i += line) __builtin_prefetch(list + i + ahead);
}

template <class Real>
class CellReader {
 public:
  explicit CellReader(const RowSystems<Real>& systems)
      : values_(cell_values(systems).data()),
        weights_(systems.weights.empty() ? nullptr : systems.weights.data()),
        loss_(systems.loss),
        offset_(Real(systems.offset)) {}

  Real value(Index z) const { return values_[z] - offset_; }
  Real weight(Index z) const { return weights_ == nullptr ? Real(1) : weights_[z]; }
  // Values that come after those of these cells.
  void prefetch_after(Index begin, Index end) const { prefetch_list(values_, begin, end); }
  [[gnu::always_inline]] CellTerms<Real> terms(Index z) const { return loss_.terms(value(z), weight(z)); }

 private:
  const Real* values_;
  const Real* weights_;
  LossOfCells<Real> loss_;
  Real offset_;
};

// Visits the cells of a slice, fiber by fiber, with the product of the rows above them.
template <class Real>
class SliceWalk {
 public:
  SliceWalk(const CsfTree<Real>& tree, std::span<const Matrix<Real>> factors)
      : tree_(tree),
        factors_(factors),
        n_(factors[0].num_cols()),
        leaf_ids_(tree.ids(tree.last_level()).data()),
        leaf_rows_(factors[tree.modes().back()].flat().data()) {
    products_.resize(std::size_t(tree.order()), std::vector<Real>(std::size_t(n_)));
  }

  // visit(product, first leaf, end): the product is null where it is a vector of ones. `above`: what the
  // product starts with, or null.
  template <class Visit>
  void visit(Index slice, const Real* above, Visit visit) {
    descend(0, slice, above, visit);
  }
  Index leaf(Index z) const { return Index(leaf_ids_[z]); }
  const Real* leaf_row(Index z) const { return leaf_rows_ + leaf(z) * n_; }
  // What the model has at a cell by the biases of the modes other than the root's.
  Real other_biases(const Real* product, const Real* leaf, Index num_factors) const {
    const Index own = num_factors + tree_.modes()[0];
    Real sum{};
    for (Index c = num_factors; c < n_; ++c)
      if (c != own) sum += product == nullptr ? leaf[c] : product[c] * leaf[c];
    return sum;
  }
  // The row of a leaf that comes soon; ids may be read past the end.
  void prefetch(Index z) const { prefetch(z, leaf_rows_, n_); }
  // The same in another table of rows than the factor.
  void prefetch(Index z, const Real* rows, Index stride) const {
    static_assert(Index(csf_look_ahead) >= leaves_ahead);
    constexpr Index line = 64 / sizeof(Real);
    const Real* soon = rows + leaf(z + leaves_ahead) * stride;
    for (Index r = 0; r < stride; r += line) __builtin_prefetch(soon + r);
  }
  // Numbers of leaves that come after those of these cells.
  void prefetch_after(Index begin, Index end) const { prefetch_list(leaf_ids_, begin, end); }
  // The row of a leaf that comes later: far enough ahead for a cache of the second level.
  const Real* row_ahead(Index z) const { return leaf_row(z + Index(csf_look_ahead)); }
  const Real* root_row(Index slice) const { return row(0, slice); }

 private:
  static constexpr Index leaves_ahead = 8;

  const Real* row(int level, Index node) const {
    return factors_[tree_.modes()[level]].flat().data() + Index(tree_.ids(level)[node]) * n_;
  }

  template <class Visit>
  void descend(int level, Index node, const Real* product, Visit& visit) {
    const auto children = tree_.first_child(level);
    if (level + 1 == tree_.last_level()) return visit(product, children[node], children[node + 1]);
    for (Index child = children[node]; child < children[node + 1]; ++child) {
      const Real* of_child = row(level + 1, child);
      if (product != nullptr) {
        Real* both = products_[level + 1].data();
        for (Index r = 0; r < n_; ++r) both[r] = product[r] * of_child[r];
        of_child = both;
      }
      descend(level + 1, child, of_child, visit);
    }
  }

  const CsfTree<Real>& tree_;
  std::span<const Matrix<Real>> factors_;
  Index n_;
  const LocalIndex* leaf_ids_;
  const Real* leaf_rows_;
  std::vector<std::vector<Real>> products_;  // [level]
};

// What cells that are not observed add to every system of a mode: the matrix of the factors, in the layout of
// SymmetricSystem, and what belongs to the bias that is solved for, in the border. Empty: nothing.
template <class Real>
struct BackgroundTerms {
  BackgroundTerms() = default;
  explicit BackgroundTerms(const RowSystems<Real>& systems) {
    const auto& gram = *systems.gram;
    const Index n = systems.num_factors, stride = SymmetricSystem<Real>::stride_for(n),
                own = n + systems.mode();
    const double factor = systems.loss.background;
    matrix.assign(std::size_t(stride * stride), Real{});
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) matrix[i * stride + j] = Real(gram(i, j) * factor);
    right.assign(std::size_t(n), Real{});
    if (gram.num_rows() == n) return;
    // The other biases are explained already.
    for (Index other = n; other < gram.num_rows(); ++other) {
      if (other == own) continue;
      for (Index i = 0; i < n; ++i) right[i] -= Real(gram(i, other) * factor);
      border_right -= Real(gram(own, other) * factor);
    }
    for (Index i = 0; i < n; ++i) border.push_back(Real(gram(i, own) * factor));
    corner = Real(gram(own, own) * factor);
  }

  std::vector<Real> matrix, right, border;
  Real corner{}, border_right{};
};

}  // namespace polyad::kernels
