#include "polyad/tasks/detail/task_checks.hpp"

#include <fmt/format.h>

#include "polyad/base/error.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::tasks {

void refuse_option(const std::string& message) {
  throw Error(Errc::bad_option, message);
}

void require_one_process(const Context& context, const std::string& task) {
  if (context.comm().size() > 1)
    refuse_option(fmt::format("{} runs on one process; the context has {}", task, context.comm().size()));
}

void require_order(int order) {
  if (order < min_order || order > max_order)
    throw Error(Errc::bad_input, fmt::format("a tensor of order {}: expected {} to {}{}", order, min_order,
                                             max_order, order == 0 ? "; it may have been moved from" : ""));
}

void warn_of_duplicates(const Context& context, const std::string& path, Index count) {
  if (count > 0)
    context.warn((path.empty() ? "" : path + ": ") + report::counted_were(count, "duplicate coordinate") +
                 " added up");
}

}  // namespace polyad::tasks
