#include "polyad/report/component_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "polyad/kernels/analysis/column_scan.hpp"
#include "polyad/kernels/analysis/congruence.hpp"
#include "polyad/report/label_order.hpp"

namespace polyad::report {
namespace {

using Kind = SummarisedMode::Kind;

SummarisedMode summarise_mode(int m, Index num_rows, Index extent, const ModeLabels& labels) {
  SummarisedMode mode;
  mode.name = labels.name.empty() ? fmt::format("mode {}", m + 1) : labels.name;
  mode.extent = extent;
  mode.num_rows = num_rows;
  mode.kind = are_ordered(labels.labels) ? Kind::ordered : Kind::categories;
  if (extent > 0) mode.first_label = label_of(labels, 0);
  if (extent > 0) mode.last_label = label_of(labels, extent - 1);
  return mode;
}

std::vector<SummarisedComponent> weigh(std::span<const double> weights, int order) {
  double largest = 0;
  for (const double w : weights) largest = std::max(largest, std::abs(w));
  std::vector<SummarisedComponent> components;
  for (const double w : weights)
    components.push_back(
        {w, largest > 0 ? std::abs(w) / largest : 0, std::vector<ComponentMode>(std::size_t(order))});
  return components;
}

}  // namespace

std::string label_of(const ModeLabels& labels, Index index) {
  return index < std::ssize(labels.labels) ? labels.labels[index] : std::to_string(index + 1);
}

template <class Real>
ComponentSummary summarise_components(const KruskalRows<Real>& model, std::span<const ModeLabels> labels,
                                      Index num_strongest) {
  ComponentSummary summary{{}, weigh(model.weights, model.order()), kernels::find_congruent(model)};
  for (int m = 0; m < model.order(); ++m) {
    const ModeLabels none, &names = m < std::ssize(labels) ? labels[m] : none;
    const auto& mode =
        summary.modes.emplace_back(summarise_mode(m, model.num_rows[m], model.extents[m], names));
    auto found = kernels::scan_columns(model, m, num_strongest);
    for (Index r = 0; r < model.num_components(); ++r) {
      if (summary.components[r].vanished()) continue;
      auto& of_mode = summary.components[r].modes[m];
      for (const auto& [index, value] : found.strongest[r])
        of_mode.strongest.push_back({index, value, label_of(names, index)});
      if (mode.kind == Kind::ordered) of_mode.line = std::move(found.lines[r]);
    }
  }
  return summary;
}

template <class Real>
ComponentSummary summarise_components(const Kruskal<Real>& model, const ModelRows& rows,
                                      std::span<const ModeLabels> labels, Index num_strongest) {
  assert(std::ssize(rows.global) == model.order() && std::ssize(rows.extents) == model.order());
  return summarise_components(rows_in_memory(model, rows.global, {rows.extents.begin(), rows.extents.end()}),
                              labels, num_strongest);
}

template ComponentSummary summarise_components(const KruskalRows<float>&, std::span<const ModeLabels>, Index);
template ComponentSummary summarise_components(const KruskalRows<double>&, std::span<const ModeLabels>,
                                               Index);
template ComponentSummary summarise_components(const Kruskal<float>&, const ModelRows&,
                                               std::span<const ModeLabels>, Index);
template ComponentSummary summarise_components(const Kruskal<double>&, const ModelRows&,
                                               std::span<const ModeLabels>, Index);

void name_biases(ComponentSummary& summary) {
  const Index order = std::ssize(summary.modes), mean = std::ssize(summary.components) - order - 1;
  for (Index r = mean; r < std::ssize(summary.components); ++r) {
    auto& component = summary.components[r];
    const Index free_mode = r - mean - 1;
    component.name = r == mean ? "the mean" : "biases of " + summary.modes[free_mode].name;
    for (Index m = 0; m < order; ++m)
      if (m != free_mode) component.modes[m].strongest.clear();
  }
  const auto is_named = [&](const kernels::CongruentPair& pair) {
    return pair.first >= mean || pair.second >= mean;
  };
  std::erase_if(summary.congruent, is_named);
}

std::vector<std::string> congruence_warnings(const ComponentSummary& summary) {
  constexpr std::size_t handful = 5;
  std::vector<std::string> warnings;
  for (const auto& [first, second, congruence] : summary.congruent) {
    if (warnings.size() == handful) {
      warnings.push_back(fmt::format("{} more pairs of components are nearly alike or cancel",
                                     summary.congruent.size() - handful));
      break;
    }
    const char* what = congruence < 0 ? "nearly cancel each other" : "are nearly the same";
    warnings.push_back(fmt::format("components {} and {} {} (congruence {:.3f}); fewer components may do",
                                   first + 1, second + 1, what, congruence));
  }
  return warnings;
}

}  // namespace polyad::report
