#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "polyad/plan/plan_strategies.hpp"

namespace polyad::report {

// Options and result of a run of `polyad plan`.
struct PlanRun {
  std::string input;                       // path of the tensor
  std::vector<std::string> input_files;    // that it was read from
  std::vector<std::string> input_options;  // options by which it was read
  std::string partition;                   // path of the partition file, if given
  std::vector<Index> dims;
  StrategyPlanOptions options;
  StrategyPlan plan;
  std::string machine = "built in";  // source of the machine constants
  int threads = 1;
  double load_seconds = 0;
  Index peak_memory_bytes = 0;
};

// The options that make `polyad cpd` use a strategy.
std::vector<std::string> cpd_options(const PlanRun& run, const PlannedStrategy& planned);
// The command to run it: "mpirun -n 16 polyad cpd x.tns -r 8 ...".
std::string cpd_command(const PlanRun& run, const PlannedStrategy& planned);

// For one number of processes: the fastest few, and the fastest of each scheme and partition; in their order.
std::vector<const PlannedStrategy*> worth_showing(const StrategyPlan& plan, int processes);

// Quoted as a word of a command line.
std::string for_shell(const std::string& word);
// Text: "1 process", "1,024 processes".
std::string processes_text(int processes);
// The machine constants of the predictions: "built in: 3 us a message, ...".
std::string constants_text(const PlanRun& run);

// The keys of `polyad plan --json`; docs/json.md names them all.
nlohmann::ordered_json plan_json(const PlanRun& run);
// The same as text: a table for each number of processes, the modes of the recommendation, and why.
std::string plan_text(const PlanRun& run);

}  // namespace polyad::report
