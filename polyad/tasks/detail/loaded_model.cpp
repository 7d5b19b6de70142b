#include "polyad/tasks/detail/loaded_model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "polyad/comm/collective.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/output/output_files.hpp"

namespace polyad::tasks {

using Json = nlohmann::ordered_json;

std::vector<Index> dims_of(const Kruskal<double>& model) {
  std::vector<Index> dims;
  for (const auto& factor : model.factors) dims.push_back(factor.num_rows());
  return dims;
}

LoadedModel::LoadedModel(Comm processes, std::vector<ModeLabels> mode_labels, Kruskal<double> model,
                         nlohmann::ordered_json recorded)
    : State(std::move(processes), std::move(mode_labels)),
      model_(std::make_shared<const Kruskal<double>>(std::move(model))),
      recorded_(std::move(recorded)),
      fit_(std::numeric_limits<double>::quiet_NaN()) {
  run.dims = dims_of(*model_);
  run.weights = model_->weights;
  run.prepared = model_->prepared;
  read_record();
}

// Others may have written the file: what is not as expected is not taken.
void LoadedModel::read_record() {
  if (!recorded_.is_object()) return;
  if (const auto fit = recorded_.find("fit"); fit != recorded_.end() && fit->is_number()) fit_ = *fit;
  const auto stop = recorded_.find("stop");
  for (const auto reason : {StopReason::converged, StopReason::test_error, StopReason::iteration_limit,
                            StopReason::observer, StopReason::interrupted, StopReason::time_limit})
    if (stop != recorded_.end() && *stop == report::stop_text(reason)) stop_ = reason;
  for (const auto rule : all_duplicate_rules())
    if (recorded_.value("duplicate_rule", Json()) == to_string(rule)) run.prepared.duplicates = rule;
  for (const auto transform : all_transforms())
    if (recorded_.value("transform", Json()) == to_string(transform)) run.prepared.transform = transform;
  if (const auto counts = recorded_.value("min_count", Json()); counts.is_array())
    for (run.prepared.min_count.clear(); const auto& count : counts)
      if (count.is_number_unsigned()) run.prepared.min_count.push_back(count);
  const auto fits = recorded_.find("fit_trajectory");
  if (fits == recorded_.end() || !fits->is_array()) return;
  for (const auto& value : *fits)
    if (value.is_number()) run.fit_trajectory.push_back(value);
}

const report::ComponentSummary& LoadedModel::summarise(Index num_strongest) {
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::vector<std::vector<Index>> rows;
    report::ModelRows all{{}, run.dims};
    for (const Index dim : run.dims) {
      auto& of_mode = rows.emplace_back(dim);
      std::iota(of_mode.begin(), of_mode.end(), Index(0));
    }
    for (const auto& mode : rows) all.global.emplace_back(mode);
    summary_ = report::summarise_components(*model_, all, labels, num_strongest);
  });
  return summary_;
}

void LoadedModel::write(const std::filesystem::path& path, Progress& progress) {
  progress.begin("writing " + path.string());
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    const auto format = io::kruskal_format_by_extension(path).value();
    const bool is_directory = format == io::KruskalFormat::splatt;
    const auto add_files = [&](const std::filesystem::path& directory) {
      io::write_label_files(io::labels_place(directory, format), labels);
      if (recorded_.is_object()) write_text(directory / "summary.json", json_text(recorded_) + "\n");
    };
    io::write_kruskal(path, *model_, format, is_directory ? io::AddFiles(add_files) : io::AddFiles());
    if (!is_directory) io::write_label_files(io::labels_place(path, format), labels);
  });
  progress.finish();
}

void LoadedModel::read_factor(int mode, const CpModel::TakeRows& take) {
  collectively(comm, [&] {
    if (comm.rank() == 0) take(0, model_->factors[std::size_t(mode)]);
  });
}

double LoadedModel::fit() const {
  return fit_;
}

std::string LoadedModel::text() const {
  auto text = fmt::format("{}{} model, {}", input.empty() ? "" : input + ": ", report::dims_text(run.dims),
                          report::counted(model_->num_components(), "component"));
  return std::isnan(fit_) ? text : text + fmt::format(", fit {:.6f}", fit_);
}

nlohmann::ordered_json LoadedModel::json() const {
  if (recorded_.is_object()) return recorded_;
  return {
      {"fit", nullptr}, {"rank", model_->num_components()}, {"weights", model_->weights}, {"dims", run.dims}};
}

}  // namespace polyad::tasks
