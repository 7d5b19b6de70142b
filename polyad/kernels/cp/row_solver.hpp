#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "polyad/kernels/cp/nonnegative_system.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_cells.hpp"
#include "polyad/kernels/cp/symmetric_system.hpp"

namespace polyad::kernels {

// The system of a row, from what its cells add to it to its solution. One per thread.
template <class Real>
class RowSolver {
 public:
  RowSolver(const RowSystems<Real>& systems, Index num_columns, const BackgroundTerms<Real>& background)
      : systems_(systems),
        background_(background),
        n_(systems.num_factors),
        num_columns_(num_columns),
        system_(n_) {}

  bool has_biases() const { return num_columns_ > n_; }
  SymmetricSystem<Real>& system() { return system_; }

  // What cells that are not observed add comes first.
  void start() {
    if (background_.matrix.empty()) return system_.clear();
    system_.start_from(background_.matrix);
    std::ranges::copy(background_.right, system_.right());
    std::ranges::copy(background_.border, system_.border());
    system_.corner() = background_.corner;
    system_.border_right() = background_.border_right;
  }
  void add_ridge(Index row) {
    for (Index r = 0; r < n_; ++r) system_.at(r, r) += systems_.ridge[row];
    if (has_biases()) system_.corner() += systems_.bias_ridge[row];
  }

  // The words of words_of_system().
  void write_words(Real* to) {
    for (Index i = 0; i < n_; ++i) to = std::copy_n(&system_.at(i, i), n_ - i, to);
    to = std::copy_n(system_.right(), n_, to);
    if (!has_biases()) return;
    to = std::copy_n(system_.border(), n_, to);
    *to++ = system_.corner();
    *to = system_.border_right();
  }
  void add_words(const Real* from) {
    const auto add = [&](Real* to, Index count) {
      for (Index i = 0; i < count; ++i) to[i] += from[i];
      from += count;
    };
    for (Index i = 0; i < n_; ++i) add(&system_.at(i, i), n_ - i);
    add(system_.right(), n_);
    if (!has_biases()) return;
    add(system_.border(), n_);
    add(&system_.corner(), 1);
    add(&system_.border_right(), 1);
  }

  // Replaces the row at `to` by the solution. set_up() makes the system.
  template <class SetUp>
  void solve(Real* to, SetUp set_up) {
    set_up();
    if (systems_.is_nonnegative) return nonnegative_.solve(system_, to);
    if (!system_.solve(has_biases())) {
      set_up();
      solve_singular();
    }
    write(to);
  }

 private:
  // By the pseudo-inverse, which is slow, but rows that hardly any cell determines are rare.
  void solve_singular() {
    const Index unknowns = n_ + (has_biases() ? 1 : 0);
    Matrix<double> matrix(unknowns, unknowns);
    std::vector<double> right(system_.right(), system_.right() + n_);
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) matrix(i, j) = double(system_.at(i, j));
    if (has_biases()) {
      for (Index i = 0; i < n_; ++i) matrix(i, n_) = matrix(n_, i) = double(system_.border()[i]);
      matrix(n_, n_) = double(system_.corner());
      right.push_back(double(system_.border_right()));
    }
    const auto inverse = pseudo_inverse(matrix, std::numeric_limits<Real>::epsilon());
    for (Index i = 0; i < unknowns; ++i) {
      double sum = 0;
      for (Index j = 0; j < unknowns; ++j) sum += inverse(i, j) * right[j];
      (i < n_ ? system_.right()[i] : system_.border_right()) = Real(sum);
    }
  }

  void write(Real* to) {
    std::copy_n(system_.right(), n_, to);
    if (!has_biases()) return;
    std::fill(to + n_, to + num_columns_, Real(1));
    to[n_ + systems_.mode()] = system_.border_right();
  }

  const RowSystems<Real>& systems_;
  const BackgroundTerms<Real>& background_;
  Index n_, num_columns_;
  SymmetricSystem<Real> system_;
  NonnegativeSystem<Real> nonnegative_;
};

}  // namespace polyad::kernels
