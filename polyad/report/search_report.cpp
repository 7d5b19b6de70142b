#include "polyad/report/search_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

std::string figure_text(const SearchTrial& trial) {
  if (trial.ndcg) return fmt::format("validation NDCG {:.5g}", *trial.ndcg);
  if (!trial.errors) return "not measured";
  return fmt::format("validation RMSE {:.5g}, MAE {:.5g}", trial.errors->rmse, trial.errors->mae);
}

}  // namespace

std::string settings_text(const SearchTrial& trial) {
  auto text =
      fmt::format("{}, regularisation {:.4g}", counted(trial.factors, "factor"), trial.regularisation);
  if (trial.learning_rate) text += fmt::format(", learning rate {:.4g}", *trial.learning_rate);
  if (trial.alpha) text += fmt::format(", alpha {:.4g}", *trial.alpha);
  return text;
}

std::string trial_text(const SearchTrial& trial) {
  return fmt::format("{}: {} (epoch {}), {:.3f} s", settings_text(trial), figure_text(trial),
                     trial.best_epoch, trial.seconds);
}

std::string search_text(std::span<const SearchTrial> trials) {
  const auto chosen = std::ranges::find_if(trials, &SearchTrial::is_chosen);
  return fmt::format("of {} the one with {} was chosen: {}", counted(Index(trials.size()), "trial"),
                     settings_text(*chosen), figure_text(*chosen));
}

nlohmann::ordered_json search_json(std::span<const SearchTrial> trials) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& trial : trials) {
    nlohmann::ordered_json one{{"rank", trial.factors}, {"regularisation", trial.regularisation}};
    if (trial.learning_rate) one["learning_rate"] = *trial.learning_rate;
    if (trial.alpha) one["alpha"] = *trial.alpha;
    one["best_epoch"] = trial.best_epoch;
    if (trial.errors) {
      one["validation_rmse"] = trial.errors->rmse;
      one["validation_mae"] = trial.errors->mae;
    }
    if (trial.ndcg) one["validation_ndcg"] = *trial.ndcg;
    one["seconds"] = trial.seconds;
    one["chosen"] = trial.is_chosen;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace polyad::report
