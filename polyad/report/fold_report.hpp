#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "polyad/report/completion_report.hpp"

namespace polyad::report {

// Mean and standard deviation of a figure over the folds.
struct FoldSpread {
  double mean = 0, deviation = 0;
};
FoldSpread spread_over_folds(std::span<const double> values);

// Of a cross-validation, with a run per fold. The keys of `polyad complete --folds`; docs/json.md names them.
nlohmann::ordered_json fold_json(std::span<const CompletionRun> folds);
// The same as text: a line per fold, the means and the deviations.
std::string fold_text(std::span<const CompletionRun> folds);

}  // namespace polyad::report
