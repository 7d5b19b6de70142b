#include "polyad/algo/cp/cp_objective.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "polyad/algo/cp/cp_result.hpp"
#include "polyad/algo/cp/finish_model.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/kernels/cp/gradient_rows.hpp"
#include "polyad/kernels/cp/mttkrp.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_update.hpp"

namespace polyad {

template <class Real>
CpObjective<Real>::CpObjective(const DistTensor<Real>& x, const AlsPlan& plan, Index num_components,
                               AskProcess ask)
    : x_(x),
      ask_(std::move(ask)),
      num_components_(num_components),
      num_columns_(kernels::padded_components(num_components)),
      plan_(plan) {
  for (int m = 0; m < x.order(); ++m) {
    num_owned_.push_back(x.num_owned(m));
    factors_.emplace_back(x.num_rows(m), num_columns_);
    gradient_.emplace_back(x.num_rows(m), num_columns_);
    grams_.emplace_back(num_columns_, num_columns_);
  }
  factor_rows_ = kernels::first_rows_of<Real>(factors_, num_owned_);
  gradient_rows_ = kernels::first_rows_of<Real>(gradient_, num_owned_);
  for (int m = 0; m < x.order(); ++m)
    exchanges_.emplace_back(x.comm(), x.exchange(m),
                            typename RoutedExchange<Real>::Rows{gradient_[m], factors_[m], num_components},
                            m);
}

template <class Real>
void CpObjective<Real>::start(const kernels::RandomStart& random, const Kruskal<Real>* given) {
  for (int m = 0; m < x_.order(); ++m)
    kernels::fill_with_start(factors_[m], num_components_, random, m, x_.rows(m));
  for (int m = 0; m < x_.order(); ++m) turn_towards_tensor(m);
  update_grams();
  const double norm = std::sqrt(kernels::sum_of_entries(kernels::hadamard_except(grams_, -1)));
  const std::vector<double> divisors(std::size_t(num_columns_), std::pow(norm, 1.0 / x_.order()));
  for (auto& factor : factors_) kernels::divide_columns(factor, divisors);
  if (given != nullptr) take_components(*given);
  for (auto& of_mode : grams_) of_mode = Matrix<double>(num_columns_, num_columns_);  // those of no model yet
  ++num_evaluations_;
  timings_ = {};  // are those of iterations
}

// Every mode takes an equal part of a component's weight. The next evaluation makes the rows known to others.
template <class Real>
void CpObjective<Real>::take_components(const Kruskal<Real>& given) {
  std::vector<double> divisors;
  for (const double weight : given.weights)
    divisors.push_back(std::pow(x_.norm() / weight, 1.0 / x_.order()));
  for (int m = 0; m < x_.order(); ++m) {
    auto columns = given.factors[m];
    kernels::divide_columns(columns, divisors);
    kernels::fill_with_columns(factors_[m], columns);
  }
}

// Its factor becomes the MTTKRP, with columns of length one.
template <class Real>
void CpObjective<Real>::turn_towards_tensor(int mode) {
  multiply(mode);
  kernels::combine<Real>({{1, {gradient_rows_[mode]}}}, {factor_rows_[mode]});
  grams_[mode] = kernels::gram(factors_[mode], num_owned_[mode]);
  x_.comm().all_reduce(grams_[mode].flat());
  std::vector<double> lengths;
  for (Index r = 0; r < num_columns_; ++r) lengths.push_back(std::sqrt(grams_[mode](r, r)));
  kernels::divide_columns(factors_[mode], lengths);
  exchanges_[mode].start_expanding();
  exchanges_[mode].finish_expanding();
}

template <class Real>
void CpObjective<Real>::update_grams() {
  std::vector<double> entries;
  timings_.measure("solve", [&] {
    for (int m = 0; m < x_.order(); ++m) {
      const auto local = kernels::gram(factors_[m], num_owned_[m]);
      entries.insert(entries.end(), local.flat().begin(), local.flat().end());
    }
  });
  timings_.measure("communicate", [&] { x_.comm().all_reduce(std::span(entries)); });
  auto from = entries.begin();
  for (auto& of_mode : grams_) {
    const auto size = std::ssize(of_mode.flat());
    std::copy_n(from, size, of_mode.flat().begin());
    from += size;
  }
}

// The MTTKRP of a mode, in the place of its gradient.
template <class Real>
void CpObjective<Real>::multiply(int mode) {
  timings_.measure("mttkrp", [&] { kernels::mttkrp<Real>(x_.local(mode), factors_, mode, gradient_[mode]); });
  timings_.measure("communicate", [&] { exchanges_[mode].fold(); });
}

// Of some rows, whose sums are there. Returns their part of the inner product of tensor and model.
template <class Real>
double CpObjective<Real>::find_gradient(int mode, const kernels::RowRange& rows) {
  return timings_.measure("solve", [&] {
    const double scale = x_.squared_norm() > 0 ? 1 / std::sqrt(x_.squared_norm()) : 0;
    return kernels::turn_into_gradient(gradient_[mode], factors_[mode],
                                       kernels::hadamard_except(grams_, mode), scale, rows);
  });
}

template <class Real>
Evaluation CpObjective<Real>::add_up(double inner, const kernels::FactorVector<Real>& direction) {
  const auto local = timings_.measure("solve", [&] {
    return kernels::inner_products<Real>({gradient_rows_}, {direction, gradient_rows_});
  });
  std::vector<double> sums{inner, local(0, 0), local(0, 1)};
  const auto asked =
      timings_.measure("communicate", [&] { return add_up_with_requests(x_.comm(), sums, ask_); });
  const double tensor_norm = x_.squared_norm() > 0 ? 1 : 0;
  const double model_norm = kernels::sum_of_entries(kernels::hadamard_except(grams_, -1));
  constexpr double rounding = 4 * std::numeric_limits<Real>::epsilon();
  double squared_factors = 0;
  for (const auto& of_mode : grams_)
    for (Index r = 0; r < num_columns_; ++r) squared_factors += of_mode(r, r);
  return {tensor_norm / 2 - sums[0] + model_norm / 2,
          sums[1],
          sums[2],
          squared_factors,
          rounding * (tensor_norm / 2 + std::abs(sums[0]) + model_norm / 2),
          asked};
}

// Rows are under way while Gram matrices are computed; sums of rows during the next pass, and while the
// gradient is computed of rows to which no other process adds.
template <class Real>
Evaluation CpObjective<Real>::evaluate(const kernels::FactorVector<Real>& direction) {
  ++num_evaluations_;
  if (!passes_) passes_.emplace(x_, plan_, num_columns_);
  timings_.measure("communicate", [&] {
    for (auto& exchange : exchanges_) exchange.start_expanding();
  });
  update_grams();
  timings_.measure("communicate", [&] {
    for (auto& exchange : exchanges_) exchange.finish_expanding();
  });
  for (std::size_t step = 0; step < passes_->num_steps(); ++step) {
    timings_.measure("mttkrp", [&] { passes_->run(step, factors_, gradient_); });
    timings_.measure("communicate", [&] {
      for (const int m : passes_->modes_of(step)) exchanges_[m].start_folding();
    });
  }
  double inner = 0;
  for (int m = 0; m < x_.order(); ++m) inner = find_gradient(m, {0, x_.num_complete(m)});
  for (int m = 0; m < x_.order(); ++m) {
    timings_.measure("communicate", [&] { exchanges_[m].finish_folding(); });
    const double added = find_gradient(m, {x_.num_complete(m), num_owned_[m]});
    if (m + 1 == x_.order()) inner += added;  // every mode gives the same
  }
  return add_up(inner, direction);
}

template <class Real>
StagedTraffic CpObjective<Real>::sent() const {
  return sent_by(exchanges_);
}

template <class Real>
Kruskal<Real> CpObjective<Real>::take_model() && {
  exchanges_.clear();  // they refer to the factors
  return finish_model(x_, std::move(factors_), grams_, {num_components_, x_.norm(), {}});
}

template class CpObjective<float>;
template class CpObjective<double>;

}  // namespace polyad
