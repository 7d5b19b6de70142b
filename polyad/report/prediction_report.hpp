#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "polyad/algo/analysis/predict.hpp"
#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/value_rules.hpp"

namespace polyad::report {

// Options and summary of a run of `polyad predict`, without the table itself.
struct PredictionRun {
  std::vector<Index> dims;
  Index num_components = 0;
  Index num_unknown = 0;     // coordinates that the model does not have; skipped
  Index num_duplicates = 0;  // lines that were combined with an earlier one
  Duplicates duplicate_rule = Duplicates::sum;
  Transform transform = Transform::none;
  RatingRange range = {};  // to which predictions were clipped
  PredictionSummary summary;
};

// The keys of `polyad predict --json`; docs/json.md names them all.
nlohmann::ordered_json prediction_json(const PredictionRun& run, std::span<const ModeLabels> labels);

// The same as text: a few lines and the largest residuals.
std::string prediction_text(const PredictionRun& run, std::span<const ModeLabels> labels);

}  // namespace polyad::report
