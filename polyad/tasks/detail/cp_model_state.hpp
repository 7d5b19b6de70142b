#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyad/base/memory.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/base/setting.hpp"
#include "polyad/report/component_summary.hpp"
#include "polyad/report/cpd_report.hpp"
#include "polyad/tasks/cp_model.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"

namespace polyad {

// What a model is: how the run went, and the rows, in whatever precision. Functions that are not const are
// collective.
struct CpModel::State {
  State(Comm processes, std::vector<ModeLabels> mode_labels)
      : comm(std::move(processes)), labels(std::move(mode_labels)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  virtual ~State() = default;

  // Both on process 0; the others hand over rows. The last summary is kept.
  virtual const report::ComponentSummary& summarise(Index num_strongest) = 0;
  virtual void write(const std::filesystem::path& path, Progress& progress) = 0;
  virtual void read_factor(int mode, const TakeRows& take) = 0;

  virtual double fit() const { return run.fit(); }
  virtual std::optional<StopReason> stop_reason() const { return run.stop; }
  virtual std::string text() const { return report::cpd_text(run); }
  virtual std::string details() const { return report::cpd_details(run, formats); }
  virtual nlohmann::ordered_json json() const { return report::cpd_json(run); }
  // Whether `run` says how the model was made, as of one that was not loaded.
  virtual bool has_run() const { return true; }
  // All of the model where this process has it in memory, else null.
  virtual std::shared_ptr<const Kruskal<double>> whole() { return nullptr; }

  void note_memory() { run.peak_memory_bytes = std::max(run.peak_memory_bytes, polyad::peak_memory_bytes()); }

  Comm comm;
  std::vector<ModeLabels> labels;
  std::string input;  // the path of the tensor's file
  std::vector<Setting> settings;
  report::CpdRun run;
  std::vector<FormatOption> formats;  // that were compared
  struct OfRatings {
    std::optional<double> mean;        // of a model with biases
    std::optional<RatingRange> range;  // of the ratings in training
  };
  std::optional<OfRatings> of_ratings;  // of a model of ratings, which complete wrote
};

namespace tasks {

// All of a model on this process. Collective.
std::shared_ptr<const Kruskal<double>> whole_model(const CpModel& model);

}  // namespace tasks

}  // namespace polyad
