#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "polyad/plan/plan_completion.hpp"

namespace polyad::report {

// What a run of `polyad plan --for complete` was and what it found.
struct CompletionPlanRun {
  std::string input, partition_file;
  std::vector<std::string> input_options;  // how it was read
  std::uint64_t seed = 1;
  CompletionPlanOptions options;
  CompletionPlan plan;
  std::string machine = "built in";  // where the constants of the machine are from
  int threads = 1;
  double load_seconds = 0, plan_seconds = 0;
  Index peak_memory_bytes = 0;
};

// How to start it: "mpirun -n 16 polyad complete x.tns -r 8 ...".
std::string complete_command(const CompletionPlanRun& run, const PlannedCompletion& way);

nlohmann::ordered_json completion_plan_json(const CompletionPlanRun& run);
// A table for each number of processes, and what is recommended.
std::string completion_plan_text(const CompletionPlanRun& run);

}  // namespace polyad::report
