#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "polyad/tasks/detail/cp_model_state.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad::tasks {

std::vector<Index> dims_of(const Kruskal<double>& model);

// A model that was read from a file. Every process has all of it.
class LoadedModel final : public CpModel::State {
 public:
  // `recorded`: the summary that decompose wrote beside the factors, or null.
  LoadedModel(Comm processes, std::vector<ModeLabels> mode_labels, Kruskal<double> model,
              nlohmann::ordered_json recorded);

  const report::ComponentSummary& summarise(Index num_strongest) override;
  void write(const std::filesystem::path& path, Progress& progress) override;
  void read_factor(int mode, const CpModel::TakeRows& take) override;
  double fit() const override;
  std::optional<StopReason> stop_reason() const override { return stop_; }
  std::string text() const override;
  std::string details() const override { return ""; }
  nlohmann::ordered_json json() const override;
  bool has_run() const override { return false; }
  std::shared_ptr<const Kruskal<double>> whole() override { return model_; }

 private:
  void read_record();

  std::shared_ptr<const Kruskal<double>> model_;
  nlohmann::ordered_json recorded_;
  double fit_ = 0;
  std::optional<StopReason> stop_;
  report::ComponentSummary summary_;
};

}  // namespace polyad::tasks
