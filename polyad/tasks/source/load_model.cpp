#include "polyad/tasks/load_model.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/bytes/input_file.hpp"
#include "polyad/io/bytes/paths.hpp"
#include "polyad/io/bytes/staged_directory.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/find_labels.hpp"
#include "polyad/tasks/detail/loaded_model.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tasks/recommend.hpp"
#include "polyad/tensor/ratings/rating_kruskal.hpp"

namespace polyad {
namespace {

namespace fs = std::filesystem;

struct ReadModel {
  Kruskal<double> model;
  io::FoundLabels found;
  nlohmann::ordered_json recorded;
  std::optional<CpModel::State::OfRatings> of_ratings = {};
};

io::LabelPlace labels_of(const fs::path& model) {
  return io::is_folder(model) ? io::labels_of_model_folder(model) : io::labels_of_model_file(model);
}

// The summary that decompose wrote; null where there is none that can be read.
nlohmann::ordered_json read_record(const fs::path& model) {
  constexpr Index max_bytes = Index(1) << 26;
  const auto path = model / "summary.json";
  std::error_code ignored;
  if (!io::is_folder(model) || !fs::is_regular_file(path, ignored)) return {};
  try {
    const io::InputFile file(path);
    if (file.size() > max_bytes) return {};
    std::string text(std::size_t(file.size()), '\0');
    file.read(0, text);
    auto json = nlohmann::ordered_json::parse(text, nullptr, false);
    return json.is_object() ? json : nlohmann::ordered_json();
  } catch (const Error&) {
    return {};
  }
}

// A model of ratings is a Kruskal tensor too.
ReadModel read_from(const fs::path& path, const LabelSources& sources) {
  const bool is_of_ratings = io::is_rating_model(path);
  ReadModel read;
  if (is_of_ratings) {
    const auto [model, training] = io::read_rating_factors<double>(path);
    read.model = kruskal_of(model);
    read.model.prepared = training.prepared;
    read.of_ratings = {model.has_biases() ? std::optional(model.mean) : std::nullopt, training.range};
  } else {
    read.model = io::read_kruskal(path);
  }
  const std::vector<ModeLabels> none(read.model.factors.size());
  read.found = tasks::find_labels({"model", labels_of(path), tasks::dims_of(read.model), none}, sources);
  if (is_of_ratings)
    io::name_rating_modes(read.found.labels);
  else
    read.recorded = read_record(path);
  return read;
}

// The labels are read with the model: it may be replaced in the meantime, and then by one with other labels.
ReadModel read_model(const fs::path& path, const LabelSources& sources) {
  ReadModel read;
  io::read_unchanged(path, {io::splatt_key, io::rating_model_key},
                     [&](const fs::path& current) { read = read_from(current, sources); });
  for (int m = 0; m < read.model.order(); ++m) {
    const auto count = Index(read.found.labels[m].labels.size());
    if (count > 0 && count != read.model.factors[m].num_rows())
      read.found.warnings.push_back(
          fmt::format("mode {} has {} rows but {} labels", m + 1, read.model.factors[m].num_rows(), count));
  }
  return read;
}

// The model and its labels, which every process reads by itself. Collective.
void require_same_model(const Comm& comm, const fs::path& path, const LabelSources& sources) {
  std::vector<std::string> names{path.string()};
  for (const auto& file : collectively(comm, [&] { return tasks::label_files_for(path, sources); }))
    names.push_back(file.string());
  tasks::require_same_files(comm, names);
}

// That of process 0. Collective.
std::optional<RatingRange> share_range(const Comm& comm, const std::optional<RatingRange>& own) {
  const auto range = comm.broadcast(own.value_or(RatingRange{}), 0);
  const bool has_range = comm.broadcast(int(own.has_value()), 0) != 0;
  return has_range ? std::optional(range) : std::nullopt;
}

}  // namespace

CpModel load_model(const Context& context, const fs::path& path, const LabelSources& labels) {
  const tasks::TaskScope scope(context);
  const Stopwatch watch;
  const Comm& comm = context.comm();
  const OneProcessWorks patience;  // a slow disk is no fault
  require_same_model(comm, path, labels);
  auto read = collectively(comm, [&] { return read_model(path, labels); });
  for (const auto& warning : read.found.warnings) context.warn(path.string() + ": " + warning);
  for (const auto& note : read.found.notes) context.note(path.string() + ": " + note);
  auto state = std::make_shared<tasks::LoadedModel>(comm, std::move(read.found.labels), std::move(read.model),
                                                    std::move(read.recorded));
  state->input = path.string();
  state->of_ratings = read.of_ratings;
  state->run.load_seconds = watch.seconds();
  state->run.peak_memory_bytes = comm.all_reduce(peak_memory_bytes(), Reduce::max);
  return CpModel(std::move(state));
}

CpModel cp_model_of(const Context& context, const CompletionModel& model) {
  const tasks::TaskScope scope(context);
  auto& of = model.state();
  RatingModel<double> rows{model.mean(), model.user_factors(), model.item_factors(), {}, {}};
  const auto user_biases = model.user_biases(), item_biases = model.item_biases();
  rows.user_biases.assign(user_biases.begin(), user_biases.end());
  rows.item_biases.assign(item_biases.begin(), item_biases.end());
  const auto range = share_range(of.comm, of.comm.rank() == 0 ? of.range() : std::nullopt);
  auto kruskal = kruskal_of(rows);
  kruskal.prepared = of.prepared;
  auto state =
      std::make_shared<tasks::LoadedModel>(of.comm, of.labels, std::move(kruskal), nlohmann::ordered_json());
  state->input = of.input;
  state->of_ratings = {rows.has_biases() ? std::optional(rows.mean) : std::nullopt, range};
  state->run.load_seconds = of.run.load_seconds;
  state->run.peak_memory_bytes = of.run.peak_memory_bytes;
  return CpModel(std::move(state));
}

CpModel load_with_items(const Context& context, const fs::path& model, const fs::path& new_items,
                        const LabelSources& labels) {
  const auto name = option_name("new_items");
  if (!labels.files.empty() || !labels.folder.empty() || labels.none)
    tasks::refuse_option(fmt::format("{} goes by the labels of the model: {} has no effect", name,
                                     option_name("labels.folder")));
  const bool is_other = collectively(context.comm(), [&] {
    std::error_code ignored;
    return fs::exists(model, ignored) && !io::is_rating_model(model);
  });
  if (is_other)
    tasks::refuse_option(fmt::format(
        "{} requires a model of ratings, which complete writes; {} is another model", name, model.string()));
  return cp_model_of(context, add_items_from(context, load_completion_model(context, model), new_items));
}

}  // namespace polyad
