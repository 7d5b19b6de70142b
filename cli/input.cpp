#include "cli/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"

namespace polyad::cli {
namespace {

void add_table_options(CLI::App& command, io::TableForm& table) {
  auto* header = command.add_flag_callback(
      "--header", [&table] { table.header = true; },
      "Tables: the first line names the columns (default: judged by the lines below)");
  command
      .add_flag_callback(
          "--no-header", [&table] { table.header = false; },
          "Tables: the first line is data like the others; columns are called 1, 2, 3, ...")
      ->excludes(header);
  command.add_option_function<std::string>(
      "--separator",
      [&table](const std::string& text) { table.separator = text == "tab" || text == "\\t" ? "\t" : text; },
      "Tables: what separates columns: a character, '::', 'tab', or ' ' for blanks (default: recognised)");
  command.add_flag("--decimal-comma", table.decimal_comma, "Tables: values are written as 3,5");
  command.add_option(
      "--missing-value", table.missing,
      "Wide tables: the value of missing cells, as 99 in Jester; empty cells are always missing");
  command.add_flag("--multiline", table.multiline, "Tables: quoted fields may contain line breaks");
  command
      .add_option("--fields", table.fields, "Tables: only lines of so many fields are read (default: all)")
      ->check(in_range(2, 1 << 20));
}

void add_format_options(CLI::App& command, InputOptions& options) {
  command.option_defaults()->group("Reading the input");
  command.add_option("--input-format", options.format,
                     "Format of the input (default: recognised by its content)");
  command
      .add_option("--index-base", options.index_base,
                  "First index of every mode (default: 0 if an index 0 occurs, else 1)")
      ->check(CLI::IsMember({0, 1}));
  command.add_option(
      "--labels", options.labels,
      "MODE=FILE: line i of FILE names index i of the mode; a folder: its files mode-MODE*.map do; "
      "none: no label files are read");
}

void add_value_options(CLI::App& command, InputOptions& options, const std::string& usual_rule,
                       const std::string& usual_transform) {
  command
      .add_option("--duplicates", options.duplicates,
                  "Value of a cell with several entries: sum, mean, max, last, count (how many), or refuse "
                  "(default: " +
                      usual_rule + ")")
      ->check(CLI::IsMember(names_of(all_duplicate_rules())));
  command
      .add_option("--transform", options.transform,
                  "Values become log1p, sqrt, or binary (1) of them (default: " + usual_transform + ")")
      ->check(CLI::IsMember(names_of(all_transforms())));
}

}  // namespace

void add_input_options(CLI::App& command, InputOptions& options) {
  command.option_defaults()->group("Reading the input");
  command
      .add_option(
          "input", options.paths,
          "Tensor file; its format is recognised, also inside gzip. Several files, or a folder of files, are "
          "read as one; '-' is standard input")
      ->required();
  command.add_option("--dims", options.dims,
                     "Dimensions, as in 30x24x659 (default: those of the header, or the largest indices)");
  add_format_options(command, options);
  command.add_option(
      "--columns", options.columns,
      "Tables: the columns of the modes, then of the value, by name or number: user,item,rating "
      "or 1,2,4; NAME:day bins times, also by hour, week, month, weekday, ...; NAME:width=10 and "
      "NAME:quantiles=4 bin numbers; NAME:index reads indices");
  command.add_option("--value", options.value,
                     "Tables: the value's column (1: count lines); then --columns are all modes");
  add_table_options(command, options.table);
  add_value_options(command, options, "sum; complete: last", "none");
  command.add_option(
      "--min-count", options.min_count,
      "Remove slices with fewer nonzeros until none is left: N, or one N per mode as in 5,5,1");
}

void add_coordinate_options(CLI::App& command, InputOptions& options) {
  command
      .add_option("coordinates", options.paths,
                  "Where to predict: indices or labels per line, and values to compare with if there are "
                  "any. Several "
                  "files, or a folder of files, are read as one; '-' is standard input")
      ->required();
  add_format_options(command, options);
  command.add_option(
      "--columns", options.columns,
      "Tables: the columns of the modes, then of the value if there is one, by name or number; "
      "NAME:day, NAME:width=10, ... bin as for the model; NAME:index reads indices");
  command.add_option("--value", options.value, "Tables: the value's column; then --columns are all modes");
  add_table_options(command, options.table);
  add_value_options(command, options, "as the model was fitted, else sum; models of ratings: last",
                    "as the model was fitted, else none");
}

TensorFiles tensor_files(const InputOptions& options) {
  return std::vector<std::filesystem::path>(options.paths.begin(), options.paths.end());
}

void plan_labels(FilePlan& plan, const InputOptions& options) {
  plan.reads_labels("--labels", parse_label_sources(options.labels));
}

void check_nonneg(const InputOptions& options, const std::string& nonneg) {
  if (nonneg != "all") return;
  for (const auto& path : options.paths) {
    const auto modes = parse_modes(path);
    if (std::ranges::find(modes, -1) == modes.end() && !std::filesystem::exists(path))
      throw Error(Errc::bad_option, fmt::format("{}: there is no such file; for modes {}, write --nonneg={}",
                                                path, path, path));
  }
}

FilePlan plan_input(const InputOptions& options) {
  FilePlan plan;
  plan_labels(plan, options);
  plan.reads_tensor("the input", tensor_files(options));
  return plan;
}

void plan_cache(FilePlan& plan, const std::string& cache) {
  plan.reads_cached_partitions(cache);
}

io::LoadedTensor load(const InputOptions& options, Console& console) {
  return polyad::load(console.context(), tensor_files(options), load_options(options));
}

void require_one_process(const Comm& comm, const std::string& command) {
  if (comm.size() > 1)
    throw Error(Errc::bad_option,
                fmt::format("polyad {} runs on one process; {} were started", command, comm.size()));
}

}  // namespace polyad::cli
