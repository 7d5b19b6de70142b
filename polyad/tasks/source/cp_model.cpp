#include "polyad/tasks/cp_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <span>

#include "polyad/comm/collective.hpp"
#include "polyad/report/components_text.hpp"
#include "polyad/report/html/component_cards.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/cp_model_state.hpp"
#include "polyad/tasks/detail/json_text.hpp"

namespace polyad {
namespace {

void check_mode(const CpModel& model, int mode) {
  if (mode < 0 || mode >= model.order())
    throw Error(Errc::bad_option,
                fmt::format("mode {}: the model has {} modes, counted from 0", mode, model.order()));
}

}  // namespace

Index CpModel::rank() const {
  return Index(weights().size());
}

int CpModel::order() const {
  return int(dims().size());
}

const std::vector<Index>& CpModel::dims() const {
  return state_->run.dims;
}

const std::vector<ModeLabels>& CpModel::labels() const {
  return state_->labels;
}

const std::vector<double>& CpModel::weights() const {
  return state_->run.weights;
}

Matrix<double> CpModel::factor(int mode) const {
  check_mode(*this, mode);
  auto whole = collectively(state_->comm, [&] { return Matrix<double>(dims()[std::size_t(mode)], rank()); });
  read_factor(mode, [&](Index first, const Matrix<double>& rows) {
    for (Index i = 0; i < rows.num_rows(); ++i) std::ranges::copy(rows.row(i), whole.row(first + i).begin());
  });
  state_->comm.broadcast(std::span<double>(whole.flat()), 0);
  return whole;
}

void CpModel::read_factor(int mode, const TakeRows& take) const {
  check_mode(*this, mode);
  std::exception_ptr thrown;
  state_->read_factor(mode, [&](Index first, const Matrix<double>& rows) {
    if (thrown) return;
    try {
      take(first, rows);
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  tasks::throw_as_is(state_->comm, thrown);
}

double CpModel::fit() const {
  return state_->fit();
}

const std::vector<double>& CpModel::fits() const {
  return state_->run.fit_trajectory;
}

std::optional<StopReason> CpModel::stop_reason() const {
  return state_->stop_reason();
}

std::string CpModel::summary() const {
  return state_->text();
}

std::string CpModel::details() const {
  return state_->details();
}

std::string CpModel::component_table(Index entries_per_mode) const {
  constexpr int width = 100;
  constexpr Index max_components = 10;
  const auto& summary = state_->summarise(entries_per_mode);
  return components_text(summary, width, max_components, entries_per_mode);
}

std::string CpModel::component_cards(Index entries_per_mode) const {
  const auto& summary = state_->summarise(entries_per_mode);
  if (state_->comm.rank() != 0) return "";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>Components</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
      report::cpd_page_style(), report::component_cards(summary, state_->labels));
}

std::string CpModel::json() const {
  return tasks::json_text(state_->json());
}

Index CpModel::peak_memory_bytes() const {
  return state_->run.peak_memory_bytes;
}

std::shared_ptr<const Kruskal<double>> tasks::whole_model(const CpModel& model) {
  if (auto whole = model.state().whole()) return whole;
  auto gathered = std::make_shared<Kruskal<double>>();
  gathered->weights = model.weights();
  for (int m = 0; m < model.order(); ++m) gathered->factors.push_back(model.factor(m));
  return gathered;
}

}  // namespace polyad
