#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "polyad/plan/plan_completion.hpp"

namespace polyad::report {

// Options and result of a run of `polyad plan --for complete`.
struct CompletionPlanRun {
  std::string input, partition_file;
  std::vector<std::string> input_files;       // that they were read from
  std::vector<std::string> input_options;     // options by which it was read
  std::vector<std::string> training_options;  // options of complete that are not defaults
  std::uint64_t seed = 1;
  CompletionPlanOptions options;
  CompletionPlan plan;
  std::string machine = "built in";  // source of the machine constants
  int threads = 1;
  double load_seconds = 0, plan_seconds = 0;
  Index peak_memory_bytes = 0;
};

// The command to run it: "mpirun -n 16 polyad complete x.tns -r 8 ...".
std::string complete_command(const CompletionPlanRun& run, const PlannedCompletion& way);

nlohmann::ordered_json completion_plan_json(const CompletionPlanRun& run);
// A table for each number of processes, and the recommendation.
std::string completion_plan_text(const CompletionPlanRun& run);

}  // namespace polyad::report
