#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/completion_input.hpp"
#include "cli/output.hpp"

namespace polyad::cli {

// What `polyad complete` is asked for.
struct CompletionArgs {
  CommonOptions common;
  InputOptions input;
  CompletionOptions complete;
  std::string schedule = "adagrad", sync = "auto", by = "auto", partition = "random", test,
              precision = "single", out, page, memory, resume, cache;
  double step = 0, decay = -1;  // not given: the schedule's own
  bool is_plain = false;
  Index ranking_k = 10;
};
void add_completion_options(CLI::App& command, CompletionArgs& args);

// What the options say, of training and of how it is spread over processes. Both throw Error{bad_option}.
CompletionOptions parse_training(const CompletionArgs& args);
RatingLayout parse_layout(const CompletionArgs& args, int processes);

// The files that are read and written.
FilePlan file_plan(const CompletionArgs& args, const TestSource& test);

}  // namespace polyad::cli
