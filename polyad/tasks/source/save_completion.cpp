#include <fmt/format.h>

#include <algorithm>

#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "polyad/report/html/completion_page.hpp"
#include "polyad/tasks/detail/output/output_files.hpp"
#include "polyad/tasks/detail/ratings/completion_input.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/settings.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tasks/save.hpp"

namespace polyad {
namespace {

// Runs `work` on process 0 with the whole model, and adds what that takes to the figures of the run.
template <class Work>
void with_whole_model(const Context& context, CompletionModel::State& state, Work work) {
  const tasks::TaskScope scope(context);
  collectively(context.comm(), [&] { tasks::require_processes_of(context, state.comm); });
  const OneProcessWorks patience;
  const Stopwatch watch;
  state.gather();
  collectively(state.comm, [&] {
    if (state.comm.rank() == 0) work();
  });
  state.run.output_seconds += watch.seconds();
  state.note_memory();
}

// Of the users, or of the items; on process 0.
report::CsvFile csv_of(const CompletionModel::State& state, RatingSide side) {
  const auto name = to_string(side);
  const auto biases = state.biases(side);
  const auto factors = state.factors(side);
  std::vector<std::string> columns{name};
  if (!biases.empty()) columns.emplace_back("bias");
  for (Index k = 0; k < factors.num_cols(); ++k) columns.push_back(fmt::format("factor {}", k + 1));
  Matrix<double> rows(factors.num_rows(), std::ssize(columns) - 1);
  for (Index i = 0; i < rows.num_rows(); ++i) {
    if (!biases.empty()) rows(i, 0) = biases[i];
    std::ranges::copy(factors.row(i), rows.row(i).last(factors.row(i).size()).begin());
  }
  return {name + "s.csv", report::csv_text(columns, state.labels[std::size_t(mode_of(side))], rows)};
}

// The rows of all users and items as tables, unless they are too large for a page.
std::vector<report::CsvFile> csv_files(const CompletionModel::State& state) {
  const auto& run = state.run;
  const Index columns = run.options.num_factors + (run.options.has_biases ? 1 : 0);
  if (run.num_users + run.num_items > report::max_csv_numbers / columns) return {};
  std::vector<report::CsvFile> files{csv_of(state, RatingSide::user), csv_of(state, RatingSide::item)};
  const bool fits = files[0].text.size() + files[1].text.size() <= report::max_csv_bytes;
  return fits ? files : std::vector<report::CsvFile>();
}

void check_labels(const Tensor& ratings) {
  for (int m = 0; m < 2; ++m) {
    const auto count = std::ssize(ratings.labels[m].labels);
    if (count > 0 && count != ratings.tensor.extent(m))
      throw Error(Errc::bad_input,
                  fmt::format("has {} {} but {} names for them: a model cannot be kept",
                              ratings.tensor.extent(m), m == 0 ? "users" : "items", count),
                  {ratings.path, 0});
  }
}

}  // namespace

void save(const Context& context, const CompletionModel& model, const std::filesystem::path& directory) {
  auto& state = model.state();
  with_whole_model(context, state, [&] {
    context.progress().begin("writing " + directory.string());
    state.write(directory);
    context.progress().finish();
  });
}

void check_output(const Context& context, const Tensor& ratings, const CompleteOptions& options,
                  const std::filesystem::path& directory) {
  const Comm& comm = context.comm();
  const auto& x = ratings.tensor;
  const double value_bytes = options.precision == Precision::float32 ? sizeof(float) : sizeof(double);
  const Index num_ratings = comm.all_reduce(x.num_nonzeros());
  collectively(comm, [&] {
    tasks::require_ratings(ratings, {double(options.factors) * value_bytes, comm.size()});
    check_labels(ratings);
    if (comm.rank() != 0) return;
    io::check_rating_model_place(directory);
    const double rows = double(x.extent(0)) + double(x.extent(1));
    const double row_bytes = double(options.factors + 2) * value_bytes;  // with bias and squared gradients
    tasks::require_space(directory,
                         rows * row_bytes + io::min_bytes("training.ptb", x.extents(), num_ratings),
                         "the model would take about");
  });
}

void save_report(const Context& context, const CompletionModel& model, const std::filesystem::path& path) {
  auto& state = model.state();
  if (!state.is_trained)
    throw Error(Errc::bad_option,
                "a report shows how a model was trained, and this one was read from " + state.input);
  std::vector<report::ExampleUser> examples;
  std::vector<report::CsvFile> downloads;
  with_whole_model(context, state, [&] {
    examples = state.examples();
    downloads = csv_files(state);
  });
  collectively(state.comm, [&] {
    if (state.comm.rank() != 0) return;
    tasks::write_text(
        path, report::completion_page({state.input, state.run, std::move(examples),
                                       tasks::run_record(context, state.settings), std::move(downloads)}));
  });
}

}  // namespace polyad
