#pragma once

#include <string>
#include <utility>

namespace polyad {

// What a task did, in two forms. Base class of the results of tasks that report figures.
class TaskResult {
 public:
  TaskResult(std::string summary, std::string json) : summary_(std::move(summary)), json_(std::move(json)) {}

  // Text for people, of one or several lines, without a newline at the end.
  const std::string& summary() const { return summary_; }
  // All figures as one JSON object; docs/json.md describes its keys.
  const std::string& json() const { return json_; }

 private:
  std::string summary_, json_;
};

}  // namespace polyad
