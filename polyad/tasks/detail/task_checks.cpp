#include "polyad/tasks/detail/task_checks.hpp"

#include <fmt/format.h>

#include "polyad/base/error.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/decompose.hpp"

namespace polyad::tasks {

void refuse_option(const std::string& message) {
  throw Error(Errc::bad_option, message);
}

void require_one_process(const Context& context, const std::string& task) {
  if (context.comm().size() > 1)
    refuse_option(fmt::format("{} runs on one process; the context has {}", task, context.comm().size()));
}

void require_processes_of(const Context& context, const Comm& model) {
  if (context.comm().size() != model.size())
    refuse_option(fmt::format("the model is distributed over {} processes; the context has {}", model.size(),
                              context.comm().size()));
}

void require_partition_file(bool is_read, const std::filesystem::path& file) {
  if (is_read == file.empty())
    refuse_option(fmt::format("{}: a file is named if and only if it holds the partition",
                              option_name("partition_file")));
}

void require_memory_limit(Index max_memory_bytes) {
  if (max_memory_bytes < 0)
    refuse_option(fmt::format("{} {}: expected a number of bytes, or 0 for no limit",
                              option_name("max_memory_bytes"), max_memory_bytes));
}

void require_not_negative(const char* field, double value) {
  if (!(value >= 0 && std::isfinite(value)))
    refuse_option(fmt::format("{} {}: expected 0 or more", option_name(field), value));
}

void require_num_starts(int num_starts) {
  if (num_starts < 1 || num_starts > max_starts)
    refuse_option(fmt::format("{} {}: expected a number from 1 to {}", option_name("num_starts"), num_starts,
                              max_starts));
}

void require_order(int order) {
  if (order < min_order || order > max_order)
    throw Error(Errc::bad_input, fmt::format("a tensor of order {}: expected {} to {}{}", order, min_order,
                                             max_order, order == 0 ? "; it may have been moved from" : ""));
}

void warn_of_duplicates(const Context& context, const Tensor& x, Index count) {
  if (count > 0 && !x.sums_duplicates)
    context.warn((x.path.empty() ? "" : x.path + ": ") + report::counted_were(count, "duplicate coordinate") +
                 " added up");
}

}  // namespace polyad::tasks
