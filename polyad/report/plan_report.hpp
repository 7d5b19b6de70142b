#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "polyad/plan/plan_strategies.hpp"

namespace polyad::report {

// What a run of `polyad plan` was and what it found.
struct PlanRun {
  std::string input;                       // the path of the tensor
  std::vector<std::string> input_options;  // how it was read
  std::string partition;                   // of the file with a partition, if one was given
  std::vector<Index> dims;
  StrategyPlanOptions options;
  StrategyPlan plan;
  std::string machine = "built in";  // where the constants of the machine are from
  int threads = 1;
  double load_seconds = 0;
  Index peak_memory_bytes = 0;
};

// The options by which `polyad cpd` takes a strategy.
std::vector<std::string> cpd_options(const PlanRun& run, const PlannedStrategy& planned);
// How to start it: "mpirun -n 16 polyad cpd x.tns -r 8 ...".
std::string cpd_command(const PlanRun& run, const PlannedStrategy& planned);

// Of one number of processes: the fastest few, and the fastest of each scheme and partition; in their order.
std::vector<const PlannedStrategy*> worth_showing(const StrategyPlan& plan, int processes);

// As a word of a command line.
std::string for_shell(const std::string& word);
// "1 process", "1,024 processes".
std::string processes_text(int processes);
// What the predictions rest on: "built in: 3 us a message, ...".
std::string constants_text(const PlanRun& run);

// The keys of `polyad plan --json`; docs/json.md names them all.
nlohmann::ordered_json plan_json(const PlanRun& run);
// The same for people: a table for each number of processes, the modes of what is recommended, and why.
std::string plan_text(const PlanRun& run);

}  // namespace polyad::report
