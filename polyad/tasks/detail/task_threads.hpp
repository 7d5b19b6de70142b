#pragma once

#include <omp.h>

#include "polyad/tasks/context.hpp"

namespace polyad::tasks {

// While it lives, parallel regions of this thread have as many threads as the context says.
class TaskThreads {
 public:
  explicit TaskThreads(const Context& context) : before_(omp_get_max_threads()) {
    if (context.threads() > 0) omp_set_num_threads(context.threads());
  }
  ~TaskThreads() { omp_set_num_threads(before_); }
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;

 private:
  int before_;
};

}  // namespace polyad::tasks
