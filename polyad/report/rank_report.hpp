#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "polyad/algo/analysis/component_sweep.hpp"
#include "polyad/report/rank_table.hpp"

namespace polyad::report {

// Options, results and costs of a run of `polyad rank`.
struct RankRun {
  ComponentSweepOptions options;
  ComponentSweepResult result;
  std::string precision;
  int processes = 1, threads = 1;
  double load_seconds = 0;
  Index peak_memory_bytes = 0;
};

// The keys of `polyad rank --json`; docs/json.md names them all.
nlohmann::ordered_json rank_json(const RankRun& run);

// The recommendation as text; rank_table.hpp has the table above it.
std::string rank_text(const RankRun& run);

}  // namespace polyad::report
