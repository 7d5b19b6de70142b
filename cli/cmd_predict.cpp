#include <memory>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "polyad/base/printable.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct PredictArgs {
  CommonOptions common;
  InputOptions input;
  std::string model, new_items, out;
  PredictOptions predict;
};

// Without --out the table goes to standard output, unless the JSON is there.
// The table is the result, which --quiet does not concern; but with --json as well, that is.
bool prints_table(const PredictArgs& args) {
  const bool is_for_json = args.common.json == "-" || (args.common.quiet && !args.common.json.empty());
  return args.out.empty() && !is_for_json;
}

PredictOptions predict_options(const PredictArgs& args) {
  const auto load = load_options(args.input);
  auto options = args.predict;
  options.out = args.out;
  options.format = load.format;
  options.index_base = load.index_base;
  options.columns = load.columns;
  options.table = load.table;
  options.value = load.value;
  options.duplicates = load.duplicates;
  if (!args.input.transform.empty()) options.transform = load.transform;
  // Labels may hold anything: a file keeps it, a terminal would obey it.
  if (prints_table(args))
    options.write_table = [](std::string_view text) { Console::print(printable_lines(text)); };
  if (options.contributions && options.out.empty() && !options.write_table)
    throw Error(Errc::bad_option, "--contributions are columns of the table: with --json - say --out FILE");
  validate(options);
  return options;
}

FilePlan file_plan(const PredictArgs& args) {
  FilePlan plan;
  plan_labels(plan, args.input);
  plan.reads_labelled("the model", args.model);
  plan.reads("the new items", args.new_items);
  plan.reads_tensor("the coordinates", tensor_files(args.input));
  return plan.writes("--out", args.out);
}

void run(const Comm& comm, const PredictArgs& args) {
  using Words = Console::Words;
  require_one_process(comm, "predict");
  const auto options = predict_options(args);
  const Console console(comm, args.common, file_plan(args),
                        prints_table(args) ? Words::to_standard_error : Words::to_standard_output);
  const auto& context = console.context();
  const auto labels = load_options(args.input).labels;
  const auto model = args.new_items.empty() ? load_model(context, args.model, labels)
                                            : load_with_items(context, args.model, args.new_items, labels);
  const auto result = predict(context, model, tensor_files(args.input), options);
  if (!args.out.empty() || !args.common.json.empty()) console.say(result.summary());
  if (!args.out.empty()) console.say("wrote predictions to " + args.out);
  console.result(result.json());
}

}  // namespace

void add_predict(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<PredictArgs>();
  auto* command =
      app.add_subcommand("predict", "Evaluate a model at given coordinates, and compare it with values");
  command->add_option("model", args->model, "The model that cpd --out or complete --out wrote")->required();
  add_coordinate_options(*command, args->input);
  command->add_option("--out", args->out,
                      "Write the table to this file, .tsv or .csv (default: to standard output, with tabs)");
  command->add_flag("--contributions", args->predict.contributions,
                    "Add a column per component: what it adds to the prediction");
  command->add_flag("--skip-unknown", args->predict.skip_unknown,
                    "Skip coordinates that the model does not have, and count them");
  command->add_flag("--no-clip", args->predict.no_clip,
                    "Models of ratings: do not clip predictions to the smallest and largest training rating");
  add_new_items_option(*command, args->new_items);
  command->add_option("--top", args->predict.num_largest, "Number of the largest residuals to report")
      ->capture_default_str()
      ->check(in_range(0, 1000));
  add_common_options(*command, args->common);
  command->footer("Example: polyad predict model data/debian.tns.gz --out predictions.tsv");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
