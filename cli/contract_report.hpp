#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "polyad/base/timings.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/dense/choose_contraction.hpp"

namespace polyad::report {}

namespace polyad::cli {

using namespace dense;   // NOLINT(google-build-using-namespace)
using namespace report;  // NOLINT(google-build-using-namespace)

// What a run does and did, for the words and for the JSON.
struct ContractRun {
  ContractRun(ContractionExpression written, BlockedContraction chosen)
      : expression(std::move(written)), plan(std::move(chosen)) {}

  ContractionExpression expression;  // as it was given
  BlockedContraction plan;           // for the diagonals that it asks for
  double predicted_seconds = 0, flops = 0, norm = 0;
  Index words = 0, max_words = 0, predicted_words = 0;
  Index working_bytes = 0, predicted_bytes = 0;
  std::string precision, out, machine;  // where its constants are from
  Timings timings;

  double gflops() const {
    const double seconds = timings.seconds("contract");
    return seconds > 0 ? flops / seconds * 1e-9 : 0;
  }
};

// For people, and for machines (collective: seconds are those of the process that took longest).
std::string contract_text(const ContractRun& run);
nlohmann::ordered_json contract_json(const Comm& comm, const ContractRun& run, const DenseMachine& machine);

}  // namespace polyad::cli
