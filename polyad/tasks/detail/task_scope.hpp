#pragma once

#include <omp.h>

#include <exception>

#include "polyad/tasks/context.hpp"
#include "polyad/tasks/detail/agreement.hpp"

namespace polyad::tasks {

// The time during which a task runs. Parallel regions of this thread have as many threads as the context
// says. Its end is collective: it throws what callbacks of the context threw. When an exception ends it, it
// drops that, and ends the phase whose progress is shown, so that no callback is called after the task.
class TaskScope {
 public:
  explicit TaskScope(const Context& context) : context_(context), before_(omp_get_max_threads()) {
    if (context.threads() > 0) omp_set_num_threads(context.threads());
  }
  ~TaskScope() noexcept(false) {
    omp_set_num_threads(before_);
    const bool has_failed = std::uncaught_exceptions() > exceptions_;
    if (has_failed) context_.progress().finish();
    const auto thrown = context_.take_callback_failure();
    if (!has_failed) throw_as_is(context_.comm(), thrown);
  }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  const Context& context_;
  int before_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace polyad::tasks
