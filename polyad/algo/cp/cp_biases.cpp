#include "polyad/algo/cp/cp_biases.hpp"

#include <algorithm>
#include <cmath>

#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

// The first columns of a matrix.
template <class T>
Matrix<T> first_columns(const Matrix<T>& matrix, Index num_rows, Index num_columns) {
  Matrix<T> result(num_rows, num_columns);
  parallel_for(num_rows, [&](Index i) {
    std::ranges::copy(matrix.row(i).first(std::size_t(num_columns)), result.row(i).begin());
  });
  return result;
}

// A component that is the same in all rows of all modes but perhaps one (-1: of all).
struct FixedComponent {
  int free_mode = -1;
  double weight = 0;
  double first_sign = 1;  // of the entries in the first mode
};

std::vector<FixedComponent> fixed_components(double mean, std::span<const double> norms,
                                             std::span<const Index> extents, double unit) {
  std::vector<FixedComponent> components{{-1, unit * std::abs(mean), mean < 0 ? -1.0 : 1.0}};
  for (int m = 0; m < std::ssize(extents); ++m) components.push_back({m, unit * norms[m]});
  for (auto& component : components)
    for (int m = 0; m < std::ssize(extents); ++m)
      if (m != component.free_mode) component.weight *= std::sqrt(double(extents[m]));
  return components;
}

// The entry of all rows of a mode that is not free.
double fixed_entry(const FixedComponent& component, int mode, Index extent) {
  if (component.weight == 0) return 0;
  return (mode == 0 ? component.first_sign : 1) / std::sqrt(double(extent));
}

bool is_constant(const Matrix<double>& factor, Index column) {
  constexpr double rounding = 1e-5;  // of models in single precision
  for (Index i = 1; i < factor.num_rows(); ++i)
    if (!(std::abs(factor(i, column) - factor(0, column)) <= rounding * std::abs(factor(0, column))))
      return false;
  return true;
}

}  // namespace

template <class Real>
CpBiases<Real> take_biases(std::vector<Matrix<Real>>& factors, std::vector<Matrix<double>>& grams,
                           Index num_components) {
  CpBiases<Real> biases;
  for (std::size_t m = 0; m < factors.size(); ++m) {
    const Index column = num_components + Index(m);
    auto& of_rows = biases.of_rows.emplace_back();
    for (Index i = 0; i < factors[m].num_rows(); ++i) of_rows.push_back(factors[m](i, column));
    biases.norms.push_back(std::sqrt(grams[m](column, column)));
    factors[m] = first_columns(factors[m], factors[m].num_rows(), num_components);
    grams[m] = first_columns(grams[m], num_components, num_components);
  }
  return biases;
}

template <class Real>
std::vector<std::vector<double>> append_biases(Kruskal<Real>& model, const CpBiases<Real>& biases,
                                               std::span<const Index> extents, double unit) {
  const Index n = model.num_components();
  const auto added = fixed_components(biases.mean, biases.norms, extents, unit);
  std::vector<std::vector<double>> empty_rows;
  for (int m = 0; m < model.order(); ++m) {
    auto& empty_row = empty_rows.emplace_back(std::size_t(n), 0.0);
    for (const auto& component : added)
      empty_row.push_back(component.free_mode == m ? 0 : fixed_entry(component, m, extents[m]));
    const auto& factor = model.factors[m];
    Matrix<Real> wider(factor.num_rows(), n + std::ssize(added));
    for (Index i = 0; i < factor.num_rows(); ++i) {
      std::ranges::transform(empty_row, wider.row(i).begin(), [](double entry) { return Real(entry); });
      std::ranges::copy(factor.row(i), wider.row(i).begin());
      if (biases.norms[m] > 0) wider(i, n + 1 + m) = Real(double(biases.of_rows[m][i]) / biases.norms[m]);
    }
    model.factors[m] = std::move(wider);
  }
  for (const auto& component : added) model.weights.push_back(component.weight);
  return empty_rows;
}

bool has_biases(const Kruskal<double>& model) {
  const Index mean = model.num_components() - model.order() - 1;
  if (mean < 0) return false;
  for (int free_mode = -1; free_mode < model.order(); ++free_mode)
    for (int m = 0; m < model.order(); ++m)
      if (m != free_mode && !is_constant(model.factors[m], mean + 1 + free_mode)) return false;
  return true;
}

std::vector<std::vector<double>> biases_of(const Kruskal<double>& model) {
  std::vector<std::vector<double>> biases;
  for (int mode = 0; mode < model.order(); ++mode) {
    const Index component = model.num_components() - model.order() + mode;
    double unit = model.weights[component];
    for (int m = 0; m < model.order(); ++m)
      if (m != mode) unit *= model.factors[m].num_rows() > 0 ? model.factors[m](0, component) : 0;
    auto& of_mode = biases.emplace_back();
    for (Index i = 0; i < model.factors[mode].num_rows(); ++i)
      of_mode.push_back(unit * model.factors[mode](i, component));
  }
  return biases;
}

template CpBiases<float> take_biases(std::vector<Matrix<float>>&, std::vector<Matrix<double>>&, Index);
template CpBiases<double> take_biases(std::vector<Matrix<double>>&, std::vector<Matrix<double>>&, Index);
template std::vector<std::vector<double>> append_biases(Kruskal<float>&, const CpBiases<float>&,
                                                        std::span<const Index>, double);
template std::vector<std::vector<double>> append_biases(Kruskal<double>&, const CpBiases<double>&,
                                                        std::span<const Index>, double);

}  // namespace polyad
