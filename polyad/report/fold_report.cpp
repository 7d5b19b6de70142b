#include "polyad/report/fold_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "polyad/report/ranking_report.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

using Json = nlohmann::ordered_json;
using Figure = std::function<double(const CompletionRun&)>;

struct NamedFigure {
  const char *key, *name;
  Figure of;
};

// Those of all folds, where the lists were measured theirs too.
std::vector<NamedFigure> figures_of(std::span<const CompletionRun> folds) {
  std::vector<NamedFigure> all;
  if (!folds.front().alpha)  // implicit feedback has no errors
    all = {{"test_rmse", "RMSE", [](const auto& run) { return run.test_errors->rmse; }},
           {"test_mae", "MAE", [](const auto& run) { return run.test_errors->mae; }}};
  for (const auto& run : folds)
    if (!run.ranking || run.ranking->num_users == 0) return all;
  all.push_back({"ndcg", "NDCG", [](const auto& run) { return run.ranking->model.ndcg; }});
  all.push_back(
      {"popularity_ndcg", "popularity", [](const auto& run) { return run.ranking->popularity.ndcg; }});
  return all;
}

FoldSpread spread_of(std::span<const CompletionRun> folds, const Figure& figure) {
  std::vector<double> values;
  for (const auto& run : folds) values.push_back(figure(run));
  return spread_over_folds(values);
}

bool are_tested(std::span<const CompletionRun> folds) {
  for (const auto& run : folds)
    if (run.num_test == 0) return false;
  return !folds.empty();
}

}  // namespace

FoldSpread spread_over_folds(std::span<const double> values) {
  FoldSpread spread;
  if (values.empty()) return spread;
  for (const double value : values) spread.mean += value / double(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / double(values.size() - 1));
  return spread;
}

Json fold_json(std::span<const CompletionRun> folds) {
  Json json;
  if (are_tested(folds))
    for (const auto& figure : figures_of(folds)) {
      const auto [mean, deviation] = spread_of(folds, figure.of);
      json[figure.key] = {{"mean", mean}, {"deviation", deviation}};
    }
  json["folds"] = Json::array();
  for (const auto& run : folds) {
    Json fold{{"ratings", run.num_ratings},
              {"test_ratings", run.num_test},
              {"validation_ratings", run.num_validation},
              {"best_epoch", run.best_epoch}};
    if (are_tested(folds))
      for (const auto& figure : figures_of(folds)) fold[figure.key] = figure.of(run);
    json["folds"].push_back(fold);
  }
  return json;
}

std::string fold_text(std::span<const CompletionRun> folds) {
  if (!are_tested(folds)) return "a fold has no ratings to test on: fewer folds, or more ratings, are needed";
  const auto figures = figures_of(folds);
  std::string text = "fold  epoch";
  for (const auto& figure : figures) text += fmt::format("  {:>10}", figure.name);
  for (std::size_t f = 0; f < folds.size(); ++f) {
    text += fmt::format("\n{:>4}  {:>5}", f + 1, folds[f].best_epoch);
    for (const auto& figure : figures) text += fmt::format("  {:>10.5g}", figure.of(folds[f]));
  }
  text += fmt::format("\n{:11}", "mean");
  for (const auto& figure : figures) text += fmt::format("  {:>10.5g}", spread_of(folds, figure.of).mean);
  text += fmt::format("\n{:11}", "deviation");
  for (const auto& figure : figures)
    text += fmt::format("  {:>10.3g}", spread_of(folds, figure.of).deviation);
  return text;
}

}  // namespace polyad::report
