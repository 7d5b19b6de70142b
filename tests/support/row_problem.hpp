#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_systems.hpp"
#include "tests/support/factor_problem.hpp"

namespace polyad::test {

// The product of the rows of all modes but one (-1: of all), at a cell.
template <class Real>
std::vector<double> product_of_rows(std::span<const Matrix<Real>> factors, const std::vector<Index>& at,
                                    int except) {
  std::vector<double> h(std::size_t(factors[0].num_cols()), 1.0);
  for (int m = 0; m < std::ssize(factors); ++m)
    if (m != except)
      for (std::size_t r = 0; r < h.size(); ++r) h[r] *= double(factors[m](at[m], Index(r)));
  return h;
}

inline double sum_of(const std::vector<double>& h) {
  double sum = 0;
  for (const double x : h) sum += x;
  return sum;
}

// Which cells a problem has, and what they are worth.
struct KnownCell {
  double value, weight;
};
using KnownCells = std::map<std::vector<Index>, KnownCell>;

// [row]: the gradient of the loss, by definition, over all cells that count; and the sum of the magnitudes of
// its terms.
template <class Real>
struct RowGradient {
  std::vector<std::vector<double>> rows, sizes;

  RowGradient(const kernels::RowSystems<Real>& systems, std::span<const Matrix<Real>> factors,
              const KnownCells& cells) {
    const int mode = systems.mode();
    const auto n = std::size_t(factors[0].num_cols());
    offset_ = systems.offset;
    rows.assign(std::size_t(factors[mode].num_rows()), std::vector<double>(n, 0.0));
    sizes = rows;
    std::vector<Index> at(factors.size(), 0);
    if (systems.loss.has_background())
      add_everywhere(systems, factors, cells, at, 0);
    else
      for (const auto& [place, cell] : cells)
        if (cell.weight > 0) add(factors, mode, place, cell.value, cell.weight);
    for (Index i = 0; i < std::ssize(rows); ++i)
      for (std::size_t r = 0; r < n; ++r) {
        const bool is_factor = Index(r) < systems.num_factors;
        const double ridge = double(is_factor ? systems.ridge[i] : systems.bias_ridge[i]);
        rows[i][r] += ridge * double(factors[mode](i, Index(r)));
        sizes[i][r] += std::abs(ridge * double(factors[mode](i, Index(r))));
      }
  }

 private:
  double offset_ = 0;

  void add(std::span<const Matrix<Real>> factors, int mode, const std::vector<Index>& at, double value,
           double weight) {
    const double error = offset_ + sum_of(product_of_rows(factors, at, -1)) - value;
    const auto h = product_of_rows(factors, at, mode);
    for (std::size_t r = 0; r < h.size(); ++r) {
      rows[at[mode]][r] += weight * error * h[r];
      sizes[at[mode]][r] += weight * (std::abs(error) + std::abs(value)) * std::abs(h[r]);
    }
  }
  void add_everywhere(const kernels::RowSystems<Real>& systems, std::span<const Matrix<Real>> factors,
                      const KnownCells& cells, std::vector<Index>& at, std::size_t m) {
    if (m == factors.size()) {
      const auto found = cells.find(at);
      const bool counts = found != cells.end() && found->second.weight > 0;
      const double background = systems.loss.background;
      if (!counts) return add(factors, systems.mode(), at, 0, background);
      const auto [value, weight] = found->second;
      if (systems.loss.kind == kernels::CellLoss::Kind::squares)
        return add(factors, systems.mode(), at, value, weight);
      return add(factors, systems.mode(), at, value > 0 ? 1 : 0,
                 background + systems.loss.alpha * weight * std::abs(value));
    }
    for (at[m] = 0; at[m] < factors[m].num_rows(); ++at[m])
      add_everywhere(systems, factors, cells, at, m + 1);
  }
};

template <class Real>
struct RowProblem {
  RowProblem(const ProblemShape& shape, Index width, bool has_biases, bool has_weights, std::uint64_t seed)
      : problem(shape.extents, shape.num_nonzeros, width + (has_biases ? Index(shape.extents.size()) : 0),
                seed, shape.heavy),
        num_factors(width) {
    auto tensor = problem.tensor();
    const auto count = std::size_t(tensor.num_nonzeros());
    std::vector<double> weights(count, 1.0);
    const double choices[] = {1, 2.5, 0.25, 0, -1};
    for (std::size_t z = 0; has_weights && z < count; ++z) weights[z] = choices[Random(seed, 3).below(5, z)];
    for (Index z = 0; z < tensor.num_nonzeros(); ++z) {
      std::vector<Index> at;
      for (int m = 0; m < tensor.order(); ++m) at.push_back(Index(tensor.indices(m)[z]));
      cells[at] = {double(tensor.values()[z]), weights[z]};
    }
    if (!has_biases) return;
    for (int m = 0; m < tensor.order(); ++m)
      for (Index i = 0; i < factors()[m].num_rows(); ++i)
        for (int other = 0; other < tensor.order(); ++other)
          if (other != m) factors()[m](i, num_factors + other) = 1;
  }

  // A tree with this mode at its root, and the weights in its order.
  std::pair<CsfTree<Real>, Array<Real>> tree(int mode) const {
    auto tensor = problem.tensor();
    auto order = natural_mode_order(tensor.order());
    std::ranges::rotate(order, order.begin() + mode);
    CsfTree<Real> tree(tensor, order);
    Array<Real> weights;
    for (Index z = 0; z < tensor.num_nonzeros(); ++z) {  // sorted as the tree is
      std::vector<Index> at;
      for (int m = 0; m < tensor.order(); ++m) at.push_back(Index(tensor.indices(m)[z]));
      weights.push_back(Real(cells.at(at).weight));
    }
    return {std::move(tree), std::move(weights)};
  }
  std::vector<Matrix<Real>>& factors() { return problem.factors; }

  FactorProblem<Real> problem;
  Index num_factors;
  KnownCells cells;
};

template <class Real>
Matrix<double> gram_of_others(std::span<const Matrix<Real>> factors, int mode) {
  std::vector<Matrix<double>> grams;
  for (const auto& factor : factors) {
    auto& gram = grams.emplace_back(factor.num_cols(), factor.num_cols());
    for (Index i = 0; i < factor.num_rows(); ++i)
      for (Index r = 0; r < factor.num_cols(); ++r)
        for (Index s = 0; s < factor.num_cols(); ++s)
          gram(r, s) += double(factor(i, r)) * double(factor(i, s));
  }
  return kernels::hadamard_except(grams, mode);
}

// [row]
template <class Real>
std::vector<Real> ridges(Index num_rows, double least) {
  std::vector<Real> all;
  for (Index i = 0; i < num_rows; ++i) all.push_back(Real(least * double(1 + i % 3)));
  return all;
}

}  // namespace polyad::test
