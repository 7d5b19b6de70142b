#include "polyad/tasks/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/kernels/analysis/factor_match.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/cp_model_state.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

struct Models {
  const CpModel &first, &second;
};

void require_same_dims(const Models& models) {
  if (models.first.dims() != models.second.dims())
    throw Error(Errc::bad_input,
                fmt::format("has dims {}, the first model has {}; expected two models of "
                            "the same tensor",
                            report::dims_text(models.second.dims()), report::dims_text(models.first.dims())),
                {models.second.state().input, 0});
}

void warn_of_labels(const Context& context, const Models& models) {
  for (int m = 0; m < models.first.order(); ++m) {
    const auto &a = models.first.labels()[m], &b = models.second.labels()[m];
    if (!a.empty() && !b.empty() && a.labels != b.labels)
      context.warn(
          fmt::format("mode {} has other labels in the second model; rows are compared by their "
                      "numbers",
                      m + 1));
  }
}

// The components, from 0, that are in none of the pairs.
std::vector<Index> without_partner(Index rank, const std::vector<MatchedComponents>& pairs,
                                   Index MatchedComponents::*number) {
  std::vector<Index> rest;
  for (Index r = 0; r < rank; ++r)
    if (std::ranges::find(pairs, r, number) == pairs.end()) rest.push_back(r);
  return rest;
}

struct Unmatched {
  std::vector<Index> first, second;
};

nlohmann::ordered_json numbers_from_1(const std::vector<Index>& components) {
  auto list = nlohmann::ordered_json::array();
  for (const Index r : components) list.push_back(r + 1);
  return list;
}

nlohmann::ordered_json model_json(const CpModel& model) {
  return {{"path", model.state().input}, {"components", model.rank()}, {"weights", model.weights()}};
}

nlohmann::ordered_json comparison_json(const Models& models, const kernels::FactorMatch& match,
                                       const Unmatched& unmatched) {
  nlohmann::ordered_json json{{"score", match.score}, {"pairs", nlohmann::ordered_json::array()}};
  for (const auto& pair : match.pairs)
    json["pairs"].push_back({{"first", pair.first + 1},
                             {"second", pair.second + 1},
                             {"congruence", pair.congruence},
                             {"cosines", pair.cosines}});
  json["unmatched"] = {{"first", numbers_from_1(unmatched.first)},
                       {"second", numbers_from_1(unmatched.second)}};
  json["dims"] = models.first.dims();
  json["first"] = model_json(models.first);
  json["second"] = model_json(models.second);
  return json;
}

std::string unmatched_text(const char* model, const std::vector<Index>& components) {
  if (components.empty()) return "";
  std::vector<Index> numbers;
  for (const Index r : components) numbers.push_back(r + 1);
  return fmt::format("\ncomponents of the {} model without a partner: {}", model, fmt::join(numbers, ", "));
}

std::string comparison_text(const Models& models, const kernels::FactorMatch& match,
                            const Unmatched& unmatched) {
  auto text =
      fmt::format("factor match score {:.6f}: {} models, {} and {}\n\n", match.score,
                  report::dims_text(models.first.dims()), report::counted(models.first.rank(), "component"),
                  report::counted(models.second.rank(), "component"));
  text += fmt::format("{:>6} {:>7} {:>11} {:>13} {:>13}  {}", "first", "second", "congruence", "weight",
                      "weight", "cosine in each mode");
  for (const auto& pair : match.pairs) {
    text += fmt::format("\n{:>6} {:>7} {:>11.6f} {:>13.6g} {:>13.6g} ", pair.first + 1, pair.second + 1,
                        pair.congruence, models.first.weights()[pair.first],
                        models.second.weights()[pair.second]);
    for (const double cosine : pair.cosines) text += fmt::format(" {:.4f}", cosine);
  }
  return text + unmatched_text("first", unmatched.first) + unmatched_text("second", unmatched.second);
}

}  // namespace

Comparison compare(const Context& context, const CpModel& first, const CpModel& second) {
  const tasks::TaskScope scope(context);
  const Models models{first, second};
  require_same_dims(models);
  warn_of_labels(context, models);
  Timings timings;
  timings.add("load", (first.state().has_run() ? 0 : first.state().run.load_seconds) +
                          (second.state().has_run() ? 0 : second.state().run.load_seconds));
  auto match = timings.measure("compare", [&] {
    kernels::FactorMatcher matcher(first.rank(), second.rank());
    for (int m = 0; m < first.order(); ++m) matcher.add_mode(first.factor(m), second.factor(m));
    return matcher.match();
  });
  const Unmatched unmatched{without_partner(first.rank(), match.pairs, &MatchedComponents::first),
                            without_partner(second.rank(), match.pairs, &MatchedComponents::second)};
  auto json = comparison_json(models, match, unmatched);
  json["threads"] = num_threads();
  tasks::add_seconds(json, timings);
  json["peak_memory_bytes"] = context.comm().all_reduce(peak_memory_bytes(), Reduce::max);
  return {{comparison_text(models, match, unmatched), tasks::json_text(json)},
          match.score,
          std::move(match.pairs)};
}

}  // namespace polyad
