#include "polyad/tasks/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "polyad/algo/analysis/predict.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/models/prediction_table.hpp"
#include "polyad/io/tensors/coordinate_file.hpp"
#include "polyad/report/prediction_report.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/cp_model_state.hpp"
#include "polyad/tasks/detail/find_labels.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/output/table_output.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tasks/detail/values/prepare_values.hpp"

namespace polyad {
namespace {

using Unknown = io::IndexSpace::Unknown;
using ColumnSpans = std::vector<std::span<const Index>>;

ColumnSpans part_of(const std::vector<Array<Index>>& indices, Index begin, std::size_t count) {
  ColumnSpans spans;
  for (const auto& column : indices) spans.push_back(std::span(column).subspan(std::size_t(begin), count));
  return spans;
}

// What becomes of the values of the file before they are compared.
struct ValueRules {
  Duplicates duplicates = Duplicates::sum;
  Transform transform = Transform::none;
};

ValueRules value_rules(const PredictOptions& options, const report::CpdRun& run) {
  return {options.duplicates.value_or(run.prepared.duplicates),
          options.transform.value_or(run.prepared.transform)};
}

void check_values(const PredictOptions& options, const ValueRules& rules, const io::CoordinateFile& file,
                  const std::string& path) {
  if (!file.has_values() && (options.duplicates || options.transform))
    throw Error(Errc::bad_input,
                fmt::format("has no values, which {} would be for",
                            option_name(options.duplicates ? "duplicates" : "transform")),
                {path, 0});
  if (rules.duplicates == Duplicates::refuse) tasks::refuse_duplicates(file.num_duplicates(), path);
}

// Where nobody said what should become of them.
void warn_of_duplicates(const Context& context, const std::string& path, Index count, Duplicates rule) {
  const auto warn = [&](const char* what) {
    context.warn(path + ": " + report::counted_were(count, "duplicate coordinate") + what);
  };
  if (count > 0 && rule == Duplicates::sum) warn(" added up");
  if (count > 0 && rule == Duplicates::last) warn(" repeated by a later line, and dropped");
}

using TransformValues = std::function<void(std::span<double>)>;

// Predicts batch after batch; `table` is null when none is wanted.
PredictionSummary predict_all(const io::CoordinateFile& file, const Kruskal<double>& model,
                              const PredictorOptions& options, const TransformValues& transform,
                              const io::PredictionTable* table, Progress& progress) {
  Predictor<double> predictor(model, options);
  Array<double> all_values;
  file.for_each_batch([&](const io::CoordinateBatch& whole) {
    all_values = whole.values;
    transform(all_values);
    const Index step = predictor.batch_size();
    for (Index begin = 0; begin < whole.size(); begin += step) {
      const auto count = std::size_t(std::min(step, whole.size() - begin));
      const auto coordinates = part_of(whole.indices, begin, count);
      const auto values = options.has_values
                              ? std::span<const double>(all_values).subspan(std::size_t(begin), count)
                              : std::span<const double>();
      const auto& batch = predictor.predict(coordinates, values);
      if (table != nullptr)
        table->write_rows({coordinates, batch.predictions, values, batch.residuals,
                           options.contributions ? &batch.contributions : nullptr});
      progress.advance(Index(count));
    }
  });
  return predictor.summary();
}

PredictionSummary predict_table(const PredictOptions& options, const io::CoordinateFile& file,
                                const Kruskal<double>& model, std::span<const ModeLabels> labels,
                                const PredictorOptions& predictor, const TransformValues& transform,
                                Progress& progress) {
  if (options.out.empty() && !options.write_table)
    return predict_all(file, model, predictor, transform, nullptr, progress);
  tasks::TableOutput output(options.out, options.write_table);
  std::vector<std::string> names;
  for (std::size_t m = 0; m < labels.size(); ++m)
    names.push_back(labels[m].name.empty() ? "mode" + std::to_string(m + 1) : labels[m].name);
  const io::PredictionTable table(names, labels, tasks::table_separator(options.out),
                                  [&](std::string_view text) { output.write(text); });
  using Values = io::PredictionTable::Values;
  table.write_head(file.has_values() ? Values::present : Values::absent,
                   options.contributions ? model.num_components() : 0);
  auto summary = predict_all(file, model, predictor, transform, &table, progress);
  output.commit();
  return summary;
}

io::ReadOptions read_options(const Context& context, const PredictOptions& options,
                             const io::IndexSpace& space) {
  LoadOptions load;
  load.format = options.format;
  load.index_base = options.index_base;
  load.columns = options.columns;
  load.value = options.value;
  load.table = options.table;
  auto read = tasks::read_options(load, space);
  read.progress = &context.progress();
  return read;
}

std::optional<Predictions::Errors> errors_of(const PredictionSummary& summary) {
  if (!summary.has_values || summary.num_coordinates == 0) return std::nullopt;
  return Predictions::Errors{summary.residuals.root_mean_square(), summary.residuals.mean(),
                             summary.relative_error(), summary.largest};
}

// How a model of ratings predicts what it does not have, and beyond the ratings that it has seen.
PredictorOptions predictor_options(const PredictOptions& options, const CpModel::State& model,
                                   bool has_values) {
  PredictorOptions predictor{has_values, options.contributions, options.num_largest, {}, {}};
  if (!model.of_ratings) return predictor;
  if (!options.skip_unknown) predictor.mean = model.of_ratings->mean;
  if (!options.no_clip && model.of_ratings->range) predictor.range = *model.of_ratings->range;
  return predictor;
}

// Slices that were rare fell out of the tensor, and so they do of what is compared with the model.
Unknown unknown_rule(const PredictOptions& options, const CpModel::State& model) {
  if (options.skip_unknown || !model.run.prepared.min_count.empty()) return Unknown::leave_out;
  return model.of_ratings && model.of_ratings->mean ? Unknown::keep : Unknown::fault;
}

// Indices without labels stay where they are when their slices fall out; their rows are zero.
void leave_out_rare(const Kruskal<double>& model, const ValuePreparation& prepared, io::IndexSpace& space) {
  for (int m = 0; m < model.order() && !prepared.min_count.empty(); ++m) {
    if (space.has_labels(m)) continue;
    const auto& factor = model.factors[std::size_t(m)];
    std::vector<bool> absent;
    for (Index i = 0; i < factor.num_rows(); ++i)
      absent.push_back(std::ranges::all_of(factor.row(i), [](double value) { return value == 0; }));
    space.set_absent(m, std::move(absent));
  }
}

void warn_of_unknown(const Context& context, const std::string& path, const report::PredictionRun& run) {
  if (run.num_unknown > 0)
    context.warn(fmt::format("{}: {} left out that the model does not have", path,
                             report::counted_were(run.num_unknown, "coordinate")));
  if (run.summary.num_estimated > 0)
    context.warn(
        fmt::format("{}: {} of users or items that the model does not have, predicted by the mean "
                    "and the bias of the other side",
                    path, report::counted(run.summary.num_estimated, "rating")));
}

nlohmann::ordered_json predict_json(const report::PredictionRun& run, const io::CoordinateFile& file,
                                    std::span<const ModeLabels> labels, const std::filesystem::path& out) {
  auto json = report::prediction_json(run, labels);
  json["format"] = io::traits(file.format()).name;
  json["out"] = out.string();
  json["threads"] = num_threads();
  return json;
}

}  // namespace

void validate(const PredictOptions& options) {
  if (options.duplicates) tasks::require_enumerator("duplicates", *options.duplicates, Duplicates::refuse);
  if (options.transform) tasks::require_enumerator("transform", *options.transform, Transform::binary);
  tasks::table_separator(options.out);
  if (options.num_largest < 0)
    throw Error(Errc::bad_option,
                fmt::format("{} {}: expected 0 or more", option_name("num_largest"), options.num_largest));
  if (options.contributions && options.out.empty() && !options.write_table)
    throw Error(Errc::bad_option, fmt::format("{} are columns of the table: {} says where it is written",
                                              option_name("contributions"), option_name("out")));
}

Predictions predict(const Context& context, const CpModel& model, const TensorFiles& coordinates,
                    const PredictOptions& options) {
  const tasks::TaskScope scope(context);
  tasks::require_one_process(context, "predicting the coordinates of a file");
  validate(options);
  const auto kruskal = tasks::whole_model(model);
  if (options.no_clip && !model.state().of_ratings)
    throw Error(Errc::bad_option,
                fmt::format("{} has no effect: the model is none of ratings", option_name("no_clip")));
  io::IndexSpace space(model.dims(), model.labels(), unknown_rule(options, model.state()));
  leave_out_rare(*kruskal, model.state().run.prepared, space);
  Timings timings;
  if (!model.state().has_run()) timings.add("load", model.state().run.load_seconds);
  const auto read = read_options(context, options, space);
  const auto rules = value_rules(options, model.state().run);
  const auto source = tasks::source_files(coordinates);
  const auto file =
      timings.measure("read", [&] { return io::CoordinateFile(source.files, read, rules.duplicates); });
  for (const auto& note : file.notes()) context.warn(source.name + ": " + note);
  check_values(options, rules, file, source.name);
  if (!options.duplicates) warn_of_duplicates(context, source.name, file.num_duplicates(), rules.duplicates);

  const auto predictor = predictor_options(options, model.state(), file.has_values());
  const auto labels = space.all_labels();
  report::PredictionRun run{space.dims(),     model.rank(),    file.num_unknown(), file.num_duplicates(),
                            rules.duplicates, rules.transform, predictor.range,    {}};
  context.progress().begin("predicting", file.num_coordinates(), "coordinates");
  run.summary = timings.measure("predict", [&] {
    const auto transform = [&](std::span<double> values) {
      tasks::transform_all(values, rules.transform, source.name);
    };
    return predict_table(options, file, *kruskal, labels, predictor, transform, context.progress());
  });
  context.progress().finish();
  warn_of_unknown(context, source.name, run);
  auto json = predict_json(run, file, labels, options.out);
  tasks::add_seconds(json, timings);
  json["peak_memory_bytes"] = peak_memory_bytes();
  return {{report::prediction_text(run, labels), tasks::json_text(json)},
          run.summary.num_coordinates,
          run.num_unknown,
          run.summary.num_estimated,
          errors_of(run.summary)};
}

Array<double> predict(const Context& context, const CpModel& model, const Tensor& x) {
  const tasks::TaskScope scope(context);
  const auto& dims = x.tensor.extents();
  if (x.tensor.order() != model.order() || !std::ranges::equal(dims, model.dims(), std::less_equal<>()))
    throw Error(Errc::bad_input, fmt::format("a tensor of dims {} does not lie within a model of dims {}",
                                             report::dims_text(dims), report::dims_text(model.dims())));
  const auto kruskal = tasks::whole_model(model);
  ColumnSpans coordinates;
  for (int m = 0; m < x.tensor.order(); ++m) coordinates.push_back(x.tensor.indices(m));
  Array<double> values(std::size_t(x.tensor.num_nonzeros()));
  kernels::evaluate(*kruskal, coordinates, std::span(values));
  return values;
}

}  // namespace polyad
