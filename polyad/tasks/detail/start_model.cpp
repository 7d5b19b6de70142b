#include "polyad/tasks/detail/start_model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "polyad/algo/cp/cp_biases.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/cp_model_state.hpp"
#include "polyad/tasks/detail/task_checks.hpp"

namespace polyad::tasks {
namespace {

void require_same_labels(const CpModel& model, const Tensor& x, const std::string& name) {
  for (int m = 0; m < model.order(); ++m) {
    const auto& of_model = model.labels()[m].labels;
    const auto& of_tensor = x.labels[m].labels;
    const auto count = std::min(of_model.size(), of_tensor.size());
    for (std::size_t i = 0; i < count; ++i)
      if (of_model[i] != of_tensor[i])
        refuse_option(fmt::format("{}: index {} of mode {} is '{}' in the model and '{}' in the tensor", name,
                                  i + 1, m + 1, of_model[i], of_tensor[i]));
  }
}

std::string name_of(const CpModel& model) {
  return model.state().input.empty() ? option_name("start_model")
                                     : option_name("start") + " " + model.state().input;
}

void require_fitting(const CpModel& model, const Tensor& x) {
  const auto name = name_of(model);
  if (model.dims() != x.tensor.extents())
    refuse_option(fmt::format("{}: the model has the dims {}, the tensor {}", name,
                              report::dims_text(model.dims()), report::dims_text(x.tensor.extents())));
  require_same_labels(model, x, name);
}

void require_room(Index num_components, const DecomposeOptions& options, const std::string& name) {
  if (num_components > options.rank)
    refuse_option(fmt::format("{}: the model has {}, more than {} {}", name,
                              report::counted(num_components, "component"), option_name("rank"),
                              options.rank));
  if (num_components == options.rank && options.num_starts > 1)
    refuse_option(fmt::format("{} {}: {} leaves no component to random starts", option_name("num_starts"),
                              options.num_starts, name));
}

double column_norm(const Matrix<double>& factor, Index column) {
  double largest = 0, sum = 0;
  for (Index row = 0; row < factor.num_rows(); ++row)
    largest = std::max(largest, std::abs(factor(row, column)));
  if (largest == 0) return 0;
  for (Index row = 0; row < factor.num_rows(); ++row)
    sum += (factor(row, column) / largest) * (factor(row, column) / largest);
  return largest * std::sqrt(sum);
}

}  // namespace

StartModel::StartModel(const Context& context, const DecomposeOptions& options, const Tensor& x) {
  const auto& model = *options.start_model;
  collectively(context.comm(), [&] { require_fitting(model, x); });
  model_ = whole_model(model);
  scales_.resize(model_->factors.size());
  Index num_components = model_->num_components();
  if (options.missing && options.missing->has_biases && has_biases(*model_)) {
    biases_ = polyad::biases_of(*model_);
    num_components -= model_->order() + 1;
  }
  for (Index r = 0; r < num_components; ++r) {
    std::vector<double> norms;
    double weight = model_->weights[r];
    for (const auto& factor : model_->factors) weight *= norms.emplace_back(column_norm(factor, r));
    if (weight == 0 || !std::isfinite(weight)) continue;
    kept_.push_back(r);
    weights_.push_back(std::abs(weight));
    for (std::size_t m = 0; m < norms.size(); ++m)
      scales_[m].push_back((m == 0 && weight < 0 ? -1 : 1) / norms[m]);
  }
  require_room(std::ssize(kept_), options, name_of(model));
}

Index StartModel::bytes() const {
  Index bytes = 0;
  for (const auto& factor : model_->factors) bytes += std::ssize(factor.flat()) * Index(sizeof(double));
  return bytes;
}

template <class Real>
Kruskal<Real> StartModel::rows_of(const DistTensor<Real>& x) const {
  Kruskal<Real> own{weights_, {}};
  for (int m = 0; m < x.order(); ++m) {
    const auto& whole = model_->factors[m];
    auto& factor = own.factors.emplace_back(x.num_owned(m), std::ssize(kept_));
    parallel_for(x.num_owned(m), [&](Index row) {
      for (std::size_t r = 0; r < kept_.size(); ++r)
        factor(row, Index(r)) = Real(whole(x.rows(m)[row], kept_[r]) * scales_[m][r]);
    });
  }
  return own;
}

template <class Real>
std::vector<std::vector<double>> StartModel::biases_of(const DistTensor<Real>& x) const {
  std::vector<std::vector<double>> own;
  for (std::size_t m = 0; m < biases_.size(); ++m) {
    auto& of_mode = own.emplace_back();
    const auto rows = x.rows(int(m)).first(std::size_t(x.num_owned(int(m))));
    for (const Index row : rows) of_mode.push_back(biases_[m][row]);
  }
  return own;
}

template std::vector<std::vector<double>> StartModel::biases_of(const DistTensor<float>&) const;
template std::vector<std::vector<double>> StartModel::biases_of(const DistTensor<double>&) const;
template Kruskal<float> StartModel::rows_of(const DistTensor<float>&) const;
template Kruskal<double> StartModel::rows_of(const DistTensor<double>&) const;

}  // namespace polyad::tasks
