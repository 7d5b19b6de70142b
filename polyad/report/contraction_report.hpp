#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "polyad/base/timings.hpp"
#include "polyad/dense/choose_contraction.hpp"

namespace polyad::report {

// What was planned for a contraction, and how its execution went.
struct ContractionRun {
  ContractionRun(dense::ContractionExpression written, dense::BlockedContraction chosen)
      : expression(std::move(written)), plan(std::move(chosen)) {}

  dense::ContractionExpression expression;  // as it was given
  dense::BlockedContraction plan;           // for the diagonals of the inputs that it takes
  dense::DenseMachine machine;              // the constants that the plan was chosen with
  std::string machine_source;               // the file of these constants, or "built in"
  std::string precision;                    // "single" or "double"
  std::string out;                          // the file that the result was written to; empty: none
  double predicted_seconds = 0, flops = 0, norm = 0;
  Index words = 0, max_words = 0, predicted_words = 0;
  Index working_bytes = 0, predicted_bytes = 0, peak_memory_bytes = 0;
  int processes = 1, threads = 1;
  Timings timings;  // of the process that took longest in each phase

  double gflops() const {
    const double seconds = timings.seconds("contract");
    return seconds > 0 ? flops / seconds * 1e-9 : 0;
  }
};

// The keys of `polyad contract --json`; docs/json.md describes them.
nlohmann::ordered_json contraction_json(const ContractionRun& run);
// A few lines for people.
std::string contraction_text(const ContractionRun& run);
// How the algorithm is derived, and what each of its steps costs.
std::string contraction_derivation(const ContractionRun& run);

}  // namespace polyad::report
