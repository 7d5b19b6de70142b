#pragma once

#include <vector>

#include "polyad/distributed/tensor_statistics.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tasks/task_result.hpp"
#include "polyad/tasks/tensor.hpp"

namespace polyad {

struct StatsOptions {
  // Also predict the time and the memory that decompose needs in each storage format (default: no). Requires
  // a context of one process, and counts distinct pairs, triples, ... of indices on a copy of the tensor.
  bool formats = false;
  // Number of components that the predictions are for, from 1 to 100000 (default 16).
  Index rank = 16;
};

// What decompose is predicted to need in one storage format.
struct FormatPrediction {
  StorageFormat format = StorageFormat::automatic;
  double seconds_per_iteration = 0;
  double build_seconds = 0;     // once, before the first iteration
  Index format_bytes = 0;       // of the tensor in this format
  Index peak_memory_bytes = 0;  // of the whole process
};

// The statistics of a tensor.
class TensorStats : public TaskResult {
 public:
  TensorStats(TaskResult texts, TensorStatistics statistics, std::vector<FormatPrediction> formats,
              StorageFormat suggested)
      : TaskResult(std::move(texts)),
        statistics_(std::move(statistics)),
        formats_(std::move(formats)),
        suggested_(suggested) {}

  // Duplicates are added up before anything is counted.
  const TensorStatistics& statistics() const { return statistics_; }
  // One entry per storage format; empty unless StatsOptions::formats was set.
  const std::vector<FormatPrediction>& formats() const { return formats_; }
  // The format that decompose would choose; StorageFormat::automatic unless StatsOptions::formats was set.
  StorageFormat suggested_format() const { return suggested_; }

 private:
  TensorStatistics statistics_;
  std::vector<FormatPrediction> formats_;
  StorageFormat suggested_;
};

// Throws Error{bad_option} for options that make no sense whatever the tensor.
void validate(const StatsOptions& options);

// Counts the nonzeros, duplicates and slices of a tensor; all processes get the figures of the whole tensor.
// Move the tensor in if it is not needed afterwards: its memory is reused. Collective.
TensorStats stats(const Context& context, Tensor x, const StatsOptions& options = {});

}  // namespace polyad
