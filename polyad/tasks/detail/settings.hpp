#pragma once

#include <string>
#include <vector>

#include "polyad/base/setting.hpp"
#include "polyad/report/html/run_record.hpp"
#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tasks/load.hpp"
#include "polyad/tasks/plan.hpp"
#include "polyad/tasks/plan_complete.hpp"

namespace polyad::tasks {

// All options of a task with their values, defaults included. Callbacks, and what is asked for besides the
// result, are no settings.
std::vector<Setting> settings_of(const LoadOptions& options);
std::vector<Setting> settings_of(const DecomposeOptions& options);
std::vector<Setting> settings_of(const CompleteOptions& options);
std::vector<Setting> settings_of(const PlanOptions& options);
std::vector<Setting> settings_of(const CompletePlanOptions& options);

// Those of a task and of the tensor that it was called with.
template <class Options>
std::vector<Setting> settings_of(const Options& options, const Tensor& x) {
  auto all = settings_of(options);
  all.insert(all.end(), x.settings.begin(), x.settings.end());
  return all;
}

// What a report says of its run. The date is now, or SOURCE_DATE_EPOCH where that is set, so that reports can
// be reproduced.
report::RunRecord run_record(const Context& context, std::vector<Setting> settings);

}  // namespace polyad::tasks
