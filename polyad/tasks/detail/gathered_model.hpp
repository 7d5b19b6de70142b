#pragma once

#include <memory>

#include "polyad/tasks/detail/cp_model_state.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad::tasks {

// All of a model that several processes made, on one that needs no others.
class GatheredModel final : public CpModel::State {
 public:
  // Collective over the processes of `model`.
  explicit GatheredModel(const CpModel& model);

  const report::ComponentSummary& summarise(Index num_strongest) override;
  void write(const std::filesystem::path& path, Progress& progress) override;
  void read_factor(int mode, const CpModel::TakeRows& take) override;
  double fit() const override { return fit_; }
  std::optional<StopReason> stop_reason() const override { return stop_; }
  std::string text() const override { return text_; }
  std::string details() const override { return details_; }
  nlohmann::ordered_json json() const override { return json_; }
  bool has_run() const override { return has_run_; }
  std::shared_ptr<const Kruskal<double>> whole() override { return model_; }

 private:
  std::shared_ptr<const Kruskal<double>> model_;
  double fit_;
  std::optional<StopReason> stop_;
  std::string text_, details_;
  nlohmann::ordered_json json_;
  bool has_run_;
  report::ComponentSummary summary_;
};

}  // namespace polyad::tasks
