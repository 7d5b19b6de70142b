#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "cli/table_output.hpp"
#include "polyad/algo/predict.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/io/bytes/staged_directory.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/io/models/prediction_table.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/io/tensors/coordinate_file.hpp"
#include "polyad/report/prediction_report.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/find_labels.hpp"
#include "polyad/tensor/ratings/rating_kruskal.hpp"

namespace polyad::cli {
namespace {

using Unknown = io::IndexSpace::Unknown;

struct Args {
  CommonOptions common;
  InputOptions input;
  std::string model, out;
  bool contributions = false, skip_unknown = false;
  Index num_largest = 5;

  // Without --out the table goes to standard output, unless the JSON is there.
  bool prints_table() const { return out.empty() && common.json != "-"; }
  bool makes_table() const { return prints_table() || !out.empty(); }
};

// Where the labels of a model lie that is read.
io::LabelPlace labels_place(const std::filesystem::path& model) {
  std::error_code ignored;
  return std::filesystem::is_directory(model, ignored) ? io::labels_of_model_folder(model)
                                                       : io::labels_of_model_file(model);
}

FilePlan file_plan(const Args& args) {
  table_separator(args.out);
  if (args.contributions && !args.makes_table())
    throw Error(Errc::bad_option, "--contributions are columns of the table: with --json - say --out FILE");
  FilePlan plan;
  plan_labels(plan, args.input);
  plan.reads_labelled("the model", args.model);
  plan.reads("the coordinates", args.input.path);
  return plan.writes("--out", args.out);
}

std::vector<Index> dims_of(const Kruskal<double>& model) {
  std::vector<Index> dims;
  for (const auto& factor : model.factors) dims.push_back(factor.num_rows());
  return dims;
}

struct LabelledModel {
  Kruskal<double> model;
  io::FoundLabels found;
};

// A model of ratings is a Kruskal tensor too.
LabelledModel read_from(const std::filesystem::path& path, const InputOptions& options) {
  const bool is_of_ratings = io::is_rating_model(path);
  auto model =
      is_of_ratings ? kruskal_of(io::read_rating_factors<double>(path).model) : io::read_kruskal(path);
  const std::vector<ModeLabels> none(model.factors.size());
  auto found =
      tasks::find_labels({"model", labels_place(path), dims_of(model), none}, load_options(options).labels);
  if (is_of_ratings) io::name_rating_modes(found.labels);
  return {std::move(model), std::move(found)};
}

// The labels are read with the model: it may be replaced in the meantime, and then by one with other labels.
LabelledModel read_model(const Args& args) {
  LabelledModel read;
  io::read_unchanged(args.model, {io::splatt_key, io::rating_model_key},
                     [&](const std::filesystem::path& path) { read = read_from(path, args.input); });
  for (int m = 0; m < read.model.order(); ++m) {
    const auto count = Index(read.found.labels[m].labels.size());
    if (count > 0 && count != read.model.factors[m].num_rows())
      read.found.warnings.push_back(
          fmt::format("mode {} has {} rows but {} labels", m + 1, read.model.factors[m].num_rows(), count));
  }
  return read;
}

// Predicts batch after batch; `table` is null when none is wanted.
PredictionSummary predict_all(const io::CoordinateFile& file, const Kruskal<double>& model,
                              const PredictOptions& options, const io::PredictionTable* table,
                              Progress& progress) {
  Predictor<double> predictor(model, options);
  file.for_each_batch([&](const io::CoordinateBatch& whole) {
    const Index step = predictor.batch_size();
    for (Index begin = 0; begin < whole.size(); begin += step) {
      const auto count = std::size_t(std::min(step, whole.size() - begin));
      std::vector<std::span<const Index>> coordinates;
      for (const auto& column : whole.indices)
        coordinates.push_back(std::span(column).subspan(std::size_t(begin), count));
      const auto values = options.has_values ? std::span(whole.values).subspan(std::size_t(begin), count)
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

PredictionSummary predict_table(const Args& args, const io::CoordinateFile& file,
                                const Kruskal<double>& model, const io::IndexSpace& space,
                                Progress& progress) {
  const PredictOptions options{file.has_values(), args.contributions, args.num_largest};
  if (!args.makes_table()) return predict_all(file, model, options, nullptr, progress);
  TableOutput output(args.out);
  std::vector<std::string> names;
  for (int m = 0; m < space.order(); ++m) names.push_back(space.name(m));
  const io::PredictionTable table(names, space.labels(), table_separator(args.out),
                                  [&](std::string_view text) { output.write(text); });
  using Values = io::PredictionTable::Values;
  table.write_head(file.has_values() ? Values::present : Values::absent,
                   args.contributions ? model.num_components() : 0);
  auto summary = predict_all(file, model, options, &table, progress);
  output.commit();
  return summary;
}

void tell(const Args& args, const PredictionRun& run, const io::CoordinateFile& file,
          const io::IndexSpace& space, const Timings& timings, Console& console) {
  if (!args.out.empty() || !args.common.json.empty()) console.say(prediction_text(run, space.labels()));
  if (!args.out.empty()) console.say(args.out + ": the predictions");
  auto json = prediction_json(run, space.labels());
  json["format"] = io::traits(file.format()).name;
  json["out"] = args.out;
  json["threads"] = num_threads();
  for (const auto& [phase, seconds] : timings.phases()) json["seconds"][phase] = seconds;
  json["peak_memory_bytes"] = peak_memory_bytes();
  console.result(json);
}

void run(const Comm& comm, const Args& args) {
  using Words = Console::Words;
  require_one_process(comm, "predict");
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args); }),
                  args.prints_table() ? Words::to_standard_error : Words::to_standard_output);
  Timings timings;
  auto loaded = timings.measure("load", [&] { return read_model(args); });
  for (const auto& warning : loaded.found.warnings) console.warn(args.model + ": " + warning);
  for (const auto& note : loaded.found.notes) console.note(args.model + ": " + note);
  const auto& model = loaded.model;
  const io::IndexSpace space(dims_of(model), std::move(loaded.found.labels),
                             args.skip_unknown ? Unknown::leave_out : Unknown::fault);
  auto read = tasks::read_options(load_options(args.input), space);
  read.progress = &console.progress();
  const auto file = timings.measure("read", [&] { return io::CoordinateFile(args.input.path, read); });
  for (const auto& note : file.notes()) console.warn(args.input.path + ": " + note);

  PredictionRun result{space.dims(), model.num_components(), file.num_unknown(), {}};
  console.progress().begin("predicting", file.num_coordinates(), "coordinates");
  result.summary =
      timings.measure("predict", [&] { return predict_table(args, file, model, space, console.progress()); });
  console.progress().finish();
  if (result.num_unknown > 0)
    console.warn(fmt::format("{}: {} left out that the model does not have", args.input.path,
                             counted_were(result.num_unknown, "coordinate")));
  tell(args, result, file, space, timings, console);
}

}  // namespace

void add_predict(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand(
      "predict", "What a model says at given coordinates, and how far that is from values");
  command->add_option("model", args->model, "The model: what cpd --out or complete --out wrote")->required();
  add_coordinate_options(*command, args->input);
  command->add_option("--out", args->out,
                      "Write the table to this file, .tsv or .csv (else to standard output, with tabs)");
  command->add_flag("--contributions", args->contributions, "Add a column per component: what it adds");
  command->add_flag("--skip-unknown", args->skip_unknown,
                    "Leave out coordinates that the model does not have, and count them");
  command->add_option("--top", args->num_largest, "How many of the largest residuals to tell")
      ->capture_default_str()
      ->check(in_range(0, 1000));
  add_common_options(*command, args->common);
  command->footer("Example: polyad predict model data/debian.tns.gz --out predictions.tsv");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
