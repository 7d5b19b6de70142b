#include "polyad/tasks/save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "polyad/report/html/cpd_page.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/cp_model_state.hpp"
#include "polyad/tasks/detail/output/model_output.hpp"
#include "polyad/tasks/detail/output/output_files.hpp"
#include "polyad/tasks/detail/settings.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

report::CpdPageContents page_contents(const CpModel::State& model, const report::ComponentSummary& summary) {
  const auto& run = model.run;
  report::CpdPageContents page;
  page.title = std::filesystem::path(model.input).filename().string();
  page.input = model.input;
  page.num_nonzeros = run.num_nonzeros;
  page.tensor_norm = run.norm;
  page.format = run.chosen.name;
  page.plan = describe(run.chosen.plan);
  page.method = report::method_text(run.options.method);
  page.round = report::round_text(run.options.method);
  if (run.options.method == Method::als) page.mode_order = run.chosen.plan.mode_order;
  page.fit_trajectory = run.fit_trajectory;
  page.model_iteration = run.model_iteration;
  page.stop_reason = report::stop_text(run.stop);
  page.threads = run.threads;
  page.processes = run.processes;
  page.device = run.device;
  page.phase_seconds = phase_seconds(run);
  page.peak_memory_bytes = run.peak_memory_bytes;
  page.predicted_memory_bytes = run.chosen.peak_bytes();
  page.summary = summary;
  page.labels = model.labels;
  if (run.num_duplicates > 0 && !run.sums_duplicates)
    page.warnings.push_back(report::counted_were(run.num_duplicates, "duplicate coordinate") + " added up");
  if (const auto fall = fall_text(run); !fall.empty()) page.warnings.push_back(fall);
  return page;
}

std::string mode_name(const CpModel& model, int mode) {
  const auto& name = model.labels()[std::size_t(mode)].name;
  return name.empty() ? fmt::format("mode {}", mode + 1) : name;
}

std::string csv_of_weights(const std::vector<double>& weights) {
  Matrix<double> column(std::ssize(weights), 1);
  std::ranges::copy(weights, column.flat().begin());
  return report::csv_text(std::vector<std::string>{"component", "weight"}, {}, column);
}

// The weights and factors as tables, on process 0; none where they are too large for a page. Collective.
std::vector<report::CsvFile> csv_files(const CpModel& model) {
  Index rows_left = report::max_csv_numbers / model.rank();
  for (const Index extent : model.dims()) {
    if (extent > rows_left) return {};
    rows_left -= extent;
  }
  std::vector<report::CsvFile> files{{"weights.csv", csv_of_weights(model.weights())}};
  std::size_t bytes = 0;
  for (int mode = 0; mode < model.order(); ++mode) {
    std::vector<std::string> columns{mode_name(model, mode)};
    for (Index r = 0; r < model.rank(); ++r) columns.push_back(fmt::format("component {}", r + 1));
    files.push_back({fmt::format("mode-{}.csv", mode + 1),
                     report::csv_text(columns, model.labels()[std::size_t(mode)], model.factor(mode))});
    bytes += files.back().text.size();
  }
  return bytes > report::max_csv_bytes ? std::vector<report::CsvFile>() : files;
}

// On process 0. Returns the label files that were written.
std::vector<std::filesystem::path> write_whole(const SparseTensor<double>& x,
                                               std::span<const ModeLabels> labels,
                                               const std::filesystem::path& path,
                                               const SaveOptions& options) {
  const bool labels_beside = !io::holds_labels(io::output_format(path, options));
  if (labels_beside) io::check_label_files(io::labels_of_tensor(path), labels);
  tasks::require_space(path, io::predicted_bytes(path, x, labels, options), "the tensor would take about");
  io::write_tensor(path, x, labels, options);
  if (!labels_beside) return {};
  return io::write_label_files(io::labels_of_tensor(path), labels);
}

}  // namespace

std::vector<std::filesystem::path> save(const Context& context, const Tensor& x,
                                        const std::filesystem::path& path, const SaveOptions& options) {
  const tasks::TaskScope scope(context);
  const Comm& comm = context.comm();
  tasks::require_order(x.tensor.order());
  collectively(comm, [&] { io::output_format(path, options); });
  std::optional<SparseTensor<double>> gathered;
  if (comm.size() > 1)
    gathered = move_nonzeros(comm, x.tensor, std::vector<int>(std::size_t(x.tensor.num_nonzeros()), 0));
  const OneProcessWorks patience;
  context.progress().begin("writing " + path.filename().string());
  auto label_files = collectively(comm, [&] {
    if (comm.rank() != 0) return std::vector<std::filesystem::path>();
    return write_whole(gathered ? *gathered : x.tensor, x.labels, path, options);
  });
  context.progress().finish();
  return label_files;
}

void save(const Context& context, const CpModel& model, const std::filesystem::path& path) {
  const tasks::TaskScope scope(context);
  collectively(context.comm(), [&] {
    tasks::require_processes_of(context, model.state().comm);
    tasks::model_format(path);
  });
  model.state().write(path, context.progress());
}

void check_output(const Context& context, const Tensor& x, Index rank, const std::filesystem::path& path) {
  const Comm& comm = context.comm();
  const Index num_nonzeros = comm.all_reduce(x.tensor.num_nonzeros());
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    const auto format = tasks::model_format(path);
    io::check_kruskal_place(path, format);
    io::check_label_files(io::labels_place(path, format), x.labels);
    // A model has a row for every index, also for those without nonzeros.
    const auto& extents = x.tensor.extents();
    const double bytes = io::predicted_bytes(path, format, extents, num_nonzeros, rank);
    tasks::require_space(path, bytes,
                         fmt::format("with a row for every index of {} the model would take about",
                                     report::dims_text(extents)));
  });
}

void check_model_place(const std::filesystem::path& path, Existing existing) {
  io::check_kruskal_place(path, tasks::model_format(path), existing);
}

void save_report(const Context& context, const CpModel& model, const std::filesystem::path& path,
                 Index entries_per_mode) {
  const tasks::TaskScope scope(context);
  if (!model.state().has_run())
    throw Error(Errc::bad_option, "a report needs the run of a decomposition; a model from a file has none");
  collectively(context.comm(), [&] { tasks::require_processes_of(context, model.state().comm); });
  const auto& summary = model.state().summarise(entries_per_mode);
  auto downloads = csv_files(model);
  collectively(context.comm(), [&] {
    if (context.comm().rank() != 0) return;
    auto page = page_contents(model.state(), summary);
    auto settings = model.state().settings;
    settings.push_back({option_name("entries_per_mode"), std::to_string(entries_per_mode)});
    page.record = tasks::run_record(context, std::move(settings));
    page.downloads = std::move(downloads);
    tasks::write_text(path, cpd_page(page));
  });
}

void save_text(const Context& context, const std::string& text, const std::filesystem::path& path) {
  collectively(context.comm(), [&] {
    if (context.comm().rank() == 0) tasks::write_text(path, text);
  });
}

}  // namespace polyad
