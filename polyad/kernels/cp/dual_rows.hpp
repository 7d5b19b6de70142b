#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_cells.hpp"
#include "polyad/kernels/cp/symmetric_system.hpp"

namespace polyad::kernels {

// The basis in which the systems of rows without cells are diagonal: that of the eigenvectors of the Gram
// matrix, where the loss has a background, else the usual one.
template <class Real>
struct DualBasis {
  std::vector<Real> diagonal;  // of what cells that are not observed add
  // Row k is the k-th eigenvector, with zeros up to the stride of a system; empty: the usual basis.
  Matrix<Real> vectors = {};
  Matrix<Real> leaves = {};  // rows of the mode at the leaves in this basis; likewise

  explicit DualBasis(Index num_factors) : diagonal(std::size_t(num_factors), Real{}) {}
  DualBasis(const Matrix<double>& gram, double background, const Matrix<Real>& leaf_factor)
      : DualBasis(gram.num_rows()) {
    const Index n = gram.num_rows(), stride = SymmetricSystem<Real>::stride_for(n);
    const auto eigen = symmetric_eigen(gram);
    vectors = Matrix<Real>(n, stride);
    Matrix<Real> columns(n, stride);  // the transpose
    for (Index k = 0; k < n; ++k) {
      diagonal[k] = Real(background * std::max(eigen.values[k], 0.0));
      for (Index r = 0; r < n; ++r) vectors(k, r) = columns(r, k) = Real(eigen.vectors(r, k));
    }
    leaves = Matrix<Real>(leaf_factor.num_rows(), stride);
    parallel_for(leaves.num_rows(), [&](Index i) {
      add_multiples(leaves.row(i).data(), leaf_factor.row(i).data(), columns.flat().data(), n, stride);
    });
  }
  bool is_rotated() const { return vectors.num_rows() > 0; }
};

// Solves rows that have fewer cells than factors by systems of the size of their cells. With D the diagonal
// of the basis plus the ridge and G the rows sqrt(quadratic / D) * h of the cells, the solution is
// D^(-1/2) G^T y, where (I + G G^T) y = linear / sqrt(quadratic). One per thread.
template <class Real>
class DualRows {
 public:
  DualRows(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors,
           const DualBasis<Real>& basis)
      : systems_(systems),
        basis_(basis),
        cells_(systems),
        walk_(*systems.tree, factors),
        n_(systems.num_factors),
        num_columns_(factors[0].num_cols()),
        unknowns_(n_ + (num_columns_ > n_ ? 1 : 0)),
        scales_(std::size_t(unknowns_)),
        solution_(std::size_t(padded())),
        rotated_(std::size_t(SymmetricSystem<Real>::stride_for(n_))),
        solvers_(std::size_t(largest(n_) + 1)) {}

  // The most cells for which this takes less time; 0: it never does.
  static Index largest(Index num_factors) { return num_factors / 2; }
  // Whether the systems of this problem can be solved so at all, and often enough to be worth a basis.
  static bool suits(const RowSystems<Real>& systems, Index num_columns) {
    constexpr Index fewest_slices = 64;
    const bool has_background = systems.loss.has_background();
    if (systems.is_nonnegative || systems.cg_steps > 0 || largest(systems.num_factors) == 0) return false;
    if (has_background && (systems.tree->order() > 2 || num_columns > systems.num_factors)) return false;
    Index count = 0;
    for (Index slice = 0; slice < systems.tree->num_nodes(0); ++slice)
      if (num_cells(*systems.tree, slice) <= largest(systems.num_factors)) ++count;
    return count >= (has_background ? fewest_slices + systems.num_factors : 1);
  }

  // Writes the solution of a slice's row. False: it cannot be had so, or not accurately; nothing is written.
  bool solve(Index slice, Real* to) {
    const Index count = num_cells(*systems_.tree, slice);
    if (count > largest(n_) || !set_scales(systems_.tree->ids(0)[slice])) return false;
    auto& system = system_for(count);
    if (!gather(slice, system)) return false;
    system.clear_matrix();
    system.add_products(panel_.data(), unknowns_, false);
    Real highest{};
    for (Index k = 0; k < system.num_unknowns(); ++k) highest = std::max(highest, system.at(k, k) += 1);
    if (!(highest < highest_diagonal) || !system.solve(false)) return false;
    for (Index r = 0; r < unknowns_; r += rows_at_a_time)
      dot_products<rows_at_a_time>(panel_.data() + r * system.stride(), system.stride(), system.right(),
                                   system.stride(), solution_.data() + r);
    for (Index r = 0; r < unknowns_; ++r) solution_[r] *= scales_[r];
    write(to);
    return true;
  }

 private:
  // Of I + G G^T, at which half of the digits are left.
  static constexpr Real highest_diagonal =
      sizeof(Real) == sizeof(float) ? Real(2048) : Real(std::size_t(1) << 26);

  static constexpr int rows_at_a_time = 8;  // of the panel

  Index padded() const { return (unknowns_ + rows_at_a_time - 1) / rows_at_a_time * rows_at_a_time; }
  static Index num_cells(const CsfTree<Real>& tree, Index slice) {
    Index begin = slice, end = slice + 1;
    for (int level = 0; level < tree.last_level(); ++level) {
      begin = tree.first_child(level)[begin];
      end = tree.first_child(level)[end];
    }
    return end - begin;
  }

  bool set_scales(Index row) {
    const Real ridge = systems_.ridge[row];
    if (!(ridge > 0)) return false;
    for (Index r = 0; r < n_; ++r) scales_[r] = 1 / std::sqrt(basis_.diagonal[r] + ridge);
    if (unknowns_ == n_) return true;
    const Real of_bias = systems_.bias_ridge[row];
    scales_[n_] = 1 / std::sqrt(of_bias);
    return of_bias > 0;
  }

  // Systems of sizes that differ by less than a vector are the same.
  SymmetricSystem<Real>& system_for(Index count) {
    const Index size = SymmetricSystem<Real>::stride_for(std::max<Index>(count, 1));
    auto& system = solvers_[(size - 1) / SymmetricSystem<Real>::stride_for(1)];
    if (system == nullptr) system = std::make_unique<SymmetricSystem<Real>>(size);
    return *system;
  }

  // The transpose of G, and the right-hand side.
  bool gather(Index slice, SymmetricSystem<Real>& system) {
    const Index stride = system.stride();
    panel_.assign(std::size_t(padded() * stride), Real{});
    std::fill_n(system.right(), stride, Real{});
    Index filled = 0;
    bool is_suitable = true;
    const auto& leaves = basis_.leaves;
    walk_.visit(slice, nullptr, [&](const Real* product, Index begin, Index end) {
      for (Index z = begin; z < end; ++z) {
        basis_.is_rotated() ? walk_.prefetch(z, leaves.flat().data(), leaves.num_cols()) : walk_.prefetch(z);
        auto terms = cells_.terms(z);
        if (terms.quadratic == 0 && terms.linear == 0) continue;
        if (!(terms.quadratic > 0)) {
          is_suitable = false;
          return;
        }
        const Real* leaf = basis_.is_rotated() ? leaves.row(walk_.leaf(z)).data() : walk_.leaf_row(z);
        if (unknowns_ > n_) terms.linear -= terms.quadratic * walk_.other_biases(product, leaf, n_);
        const Real root = std::sqrt(terms.quadratic);
        Real* to = panel_.data() + filled;
        for (Index r = 0; r < n_; ++r, to += stride)
          *to = root * scales_[r] * (product == nullptr ? leaf[r] : product[r] * leaf[r]);
        if (unknowns_ > n_) *to = root * scales_[n_];
        system.right()[filled++] = terms.linear / root;
      }
    });
    return is_suitable;
  }

  void write(Real* to) {
    if (basis_.is_rotated()) {
      std::ranges::fill(rotated_, Real{});
      add_multiples(rotated_.data(), solution_.data(), basis_.vectors.flat().data(), n_,
                    std::ssize(rotated_));
    }
    std::copy_n(basis_.is_rotated() ? rotated_.data() : solution_.data(), n_, to);
    if (unknowns_ == n_) return;
    std::fill(to + n_, to + num_columns_, Real(1));
    to[n_ + systems_.mode()] = solution_[n_];
  }

  const RowSystems<Real>& systems_;
  const DualBasis<Real>& basis_;
  CellReader<Real> cells_;
  SliceWalk<Real> walk_;
  Index n_, num_columns_;
  Index unknowns_;  // the bias included
  std::vector<Real> scales_, solution_, rotated_;
  std::vector<Real> panel_;  // [unknown][cell], in rows of the stride of the system
  std::vector<std::unique_ptr<SymmetricSystem<Real>>> solvers_;  // [size in vectors, less one]
};

}  // namespace polyad::kernels
