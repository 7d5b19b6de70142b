#pragma once

#include <omp.h>

#include <exception>

#include "polyad/tasks/context.hpp"

namespace polyad::tasks {

// While it lives, parallel regions of this thread have as many threads as the context says. When an exception
// ends it, it also ends the phase whose progress is shown, so that no callback is called after the task.
class TaskThreads {
 public:
  explicit TaskThreads(const Context& context) : context_(context), before_(omp_get_max_threads()) {
    if (context.threads() > 0) omp_set_num_threads(context.threads());
  }
  ~TaskThreads() {
    omp_set_num_threads(before_);
    if (std::uncaught_exceptions() > exceptions_) context_.progress().finish();
  }
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;

 private:
  const Context& context_;
  int before_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace polyad::tasks
