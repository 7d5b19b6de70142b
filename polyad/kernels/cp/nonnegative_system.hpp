#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "polyad/kernels/cp/nonnegative_descent.hpp"
#include "polyad/kernels/cp/symmetric_system.hpp"

namespace polyad::kernels {

// Solves systems for rows a >= 0 that minimise 1/2 a V a^T - m a^T. Coordinate descent from the present row
// finds the entries that are positive, and elimination what they are; where that makes some negative, the row
// moves towards it as far as none is (Lawson and Hanson 1974), and the descent goes on. No step raises the
// objective. One per thread.
template <class Real>
class NonnegativeSystem {
 public:
  // `a`: the present row, which is replaced. The matrix of the system is mirrored.
  void solve(SymmetricSystem<Real>& system, Real* a) {
    constexpr int max_rounds = 50, sweeps_per_round = 4;
    system.mirror();
    const Index n = system.num_unknowns();
    for (Index r = 0; r < n; ++r) a[r] = std::max(a[r], Real{});
    for (int round = 0; round < max_rounds; ++round) {
      find_rest(system, a);
      descend_nonnegative<Real>(
          n, a, rest_.data(), {.max_sweeps = sweeps_per_round, .little = little},
          [&](Index r) { return system.at(r, r); }, [&](Real step, Index r) { step_along(system, step, r); });
      if (!eliminate(system, a)) continue;
      find_rest(system, a);
      if (is_minimum(system, a)) return;
    }
  }

 private:
  static constexpr Real little = 64 * std::numeric_limits<Real>::epsilon();

  // rest = m - a V
  void find_rest(SymmetricSystem<Real>& system, const Real* a) {
    rest_.assign(system.right(), system.right() + system.num_unknowns());
    for (Index r = 0; r < system.num_unknowns(); ++r)
      if (a[r] != 0) step_along(system, a[r], r);
  }
  void step_along(const SymmetricSystem<Real>& system, Real step, Index r) {
    const Real* row = system.full_row(r);
    for (std::size_t c = 0; c < rest_.size(); ++c) rest_[c] -= step * row[c];
  }

  // Moves the positive entries to their optimum, or towards it. False: not all the way.
  bool eliminate(SymmetricSystem<Real>& system, Real* a) {
    positive_.clear();
    for (Index r = 0; r < system.num_unknowns(); ++r)
      if (a[r] > 0) positive_.push_back(r);
    if (!solve_positive(system)) return false;
    double part = 1;  // of the way
    for (std::size_t i = 0; i < positive_.size(); ++i) {
      const auto from = double(a[positive_[i]]);
      if (right_[i] <= 0) part = std::min(part, from / (from - right_[i]));
    }
    for (std::size_t i = 0; i < positive_.size(); ++i) {
      const auto from = double(a[positive_[i]]), to = from + part * (right_[i] - from);
      const bool is_first_at_zero = right_[i] <= 0 && from / (from - right_[i]) <= part;
      a[positive_[i]] = is_first_at_zero ? Real{} : std::max(Real(part == 1 ? right_[i] : to), Real{});
    }
    return part == 1;
  }

  // right_ = the solution of the equations of positive entries alone, by Cholesky factorisation. False: they
  // have none that is certain.
  bool solve_positive(SymmetricSystem<Real>& system) {
    constexpr double rounding = 8 * std::numeric_limits<Real>::epsilon();
    const auto n = positive_.size();
    lower_.resize(n * n);
    right_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      double* row = lower_.data() + i * n;
      right_[i] = double(system.right()[positive_[i]]);
      for (std::size_t j = 0; j <= i; ++j) {
        const double* other = lower_.data() + j * n;
        double sum = double(system.at(positive_[i], positive_[j]));
        const double diagonal = sum;
        for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
        if (j < i)
          row[j] = sum / other[j];
        else if (sum > rounding * diagonal)
          row[i] = std::sqrt(sum);
        else
          return false;
      }
      for (std::size_t k = 0; k < i; ++k) right_[i] -= row[k] * right_[k];
      right_[i] /= row[i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) right_[i] -= lower_[k * n + i] * right_[k];
      right_[i] /= lower_[i * n + i];
    }
    return true;
  }

  // Whether no entry that is zero would lower the objective, beyond rounding, if it were positive.
  bool is_minimum(SymmetricSystem<Real>& system, const Real* a) const {
    const Index n = system.num_unknowns();
    const Real largest = n == 0 ? Real{} : *std::max_element(a, a + n);
    for (Index r = 0; r < n; ++r)
      if (a[r] == 0 && rest_[r] > little * largest * system.at(r, r)) return false;
    return true;
  }

  std::vector<Real> rest_;
  std::vector<Index> positive_;
  std::vector<double> lower_, right_;
};

}  // namespace polyad::kernels
