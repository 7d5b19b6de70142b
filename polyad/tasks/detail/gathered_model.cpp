#include "polyad/tasks/detail/gathered_model.hpp"

#include <numeric>

#include "polyad/io/models/kruskal.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/output/output_files.hpp"

namespace polyad::tasks {

GatheredModel::GatheredModel(const CpModel& model)
    : State(Comm::self(), model.labels()),
      fit_(model.state().fit()),
      stop_(model.state().stop_reason()),
      text_(model.state().text()),
      details_(model.state().details()),
      json_(model.state().json()),
      has_run_(model.state().has_run()) {
  auto& from = model.state();
  input = from.input;
  settings = from.settings;
  run = from.run;
  formats = from.formats;
  of_ratings = from.of_ratings;
  Kruskal<double> rows = *whole_model(model);
  rows.prepared = run.prepared;
  model_ = std::make_shared<const Kruskal<double>>(std::move(rows));
}

const report::ComponentSummary& GatheredModel::summarise(Index num_strongest) {
  std::vector<std::vector<Index>> rows;
  report::ModelRows all{{}, run.dims};
  for (const Index dim : run.dims) {
    auto& of_mode = rows.emplace_back(dim);
    std::iota(of_mode.begin(), of_mode.end(), Index(0));
  }
  for (const auto& mode : rows) all.global.emplace_back(mode);
  summary_ = report::summarise_components(*model_, all, labels, num_strongest);
  if (run.mean) report::name_biases(summary_);
  return summary_;
}

void GatheredModel::write(const std::filesystem::path& path, Progress& progress) {
  progress.begin("writing " + path.string());
  const auto format = io::kruskal_format_by_extension(path).value();
  const bool is_directory = format == io::KruskalFormat::splatt;
  const auto add_files = [&](const std::filesystem::path& directory) {
    io::write_label_files(io::labels_place(directory, format), labels);
    write_text(directory / "summary.json", json_text(json_) + "\n");
  };
  io::write_kruskal(path, *model_, format, is_directory ? io::AddFiles(add_files) : io::AddFiles());
  if (!is_directory) io::write_label_files(io::labels_place(path, format), labels);
  progress.finish();
}

void GatheredModel::read_factor(int mode, const CpModel::TakeRows& take) {
  take(0, model_->factors[std::size_t(mode)]);
}

}  // namespace polyad::tasks
