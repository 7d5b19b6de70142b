#pragma once

#include <string>

#include "cli/console.hpp"
#include "cli/input.hpp"

namespace polyad::cli {

// What `polyad plan --for complete` is asked for.
struct CompletionPlanArgs {
  std::string processes;
  std::string sync;                // "1,2,4"; empty: some are looked at
  std::string by = "auto";         // users and items; or one of them
  std::string partition = "auto";  // random and block; or one of them; or a file with a part for each of `by`
  Index num_factors = 16;
  std::uint64_t seed = 1;
  bool with_hypergraph = false;
  double seconds = 60;  // for each partition of a hypergraph
  std::string page = {};
  std::string cache = {};
};

// Staleness, words, messages and predicted time of completing ratings, for any numbers of processes and
// sub-epochs, without training. Throws Error{bad_option} and Error{bad_input}.
void plan_for_completion(const Comm& comm, const InputOptions& input, const CompletionPlanArgs& args,
                         Console& console);

}  // namespace polyad::cli
