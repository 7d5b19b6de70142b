#include "polyad/tasks/checkpoint.hpp"

#include <fmt/format.h>

#include <limits>

#include "polyad/base/error.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/option_values.hpp"

namespace polyad {

void validate(const CheckpointOptions& options) {
  if (options.directory.empty()) tasks::refuse_option(option_name("checkpoint") + ": expected a directory");
  tasks::require_not_negative("every_seconds", options.every_seconds);
  tasks::require_not_negative("every_iterations", options.every_iterations);
  if (options.keep < 1)
    tasks::refuse_option(fmt::format("{} {}: expected 1 or more", option_name("keep"), options.keep));
}

CheckpointOptions parse_checkpoint(const std::string& directory, const std::string& every, int keep) {
  CheckpointOptions options{.directory = directory, .keep = keep};
  const std::string iterations = "it";
  if (!every.ends_with(iterations)) {
    options.every_seconds = parse_duration(every, option_name("every"));
    return options;
  }
  const auto count = parse_whole_number(every.substr(0, every.size() - iterations.size()));
  if (!count || *count < 1 || *count > std::numeric_limits<int>::max())
    tasks::refuse_option(
        fmt::format("{} {}: expected a time, as in 10min, or a number of iterations, as in 20it",
                    option_name("every"), every));
  options.every_seconds = 0;
  options.every_iterations = int(*count);
  return options;
}

}  // namespace polyad
