#include "polyad/tasks/stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "polyad/algo/cp/prepare_tensor.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/report/cpd_report.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

StorageFormat format_called(const std::string& name) {
  return *std::ranges::find(all_storage_formats(), name, [](StorageFormat f) { return to_string(f); });
}

// What decompose would choose. It counts on a copy of the tensor, which is gone afterwards.
FormatChoice choose_format(const Context& context, const SparseTensor<double>& x, Index rank) {
  CpRunOptions options;
  options.als.num_components = rank;
  options.machine = tasks::load_machine(context.comm()).model;
  return context.progress().during("counting fibers", [&] { return suggest_format<double>(x, options); });
}

std::vector<FormatPrediction> predictions(const FormatChoice& choice) {
  std::vector<FormatPrediction> formats;
  for (const auto& option : choice.options)
    formats.push_back({format_called(option.name), option.seconds, option.build_seconds, option.format_bytes,
                       option.peak_bytes()});
  return formats;
}

}  // namespace

void validate(const StatsOptions& options) {
  if (options.rank < 1 || options.rank > max_rank)
    throw Error(Errc::bad_option, fmt::format("{} {}: expected a number from 1 to {}", option_name("rank"),
                                              options.rank, max_rank));
}

TensorStats stats(const Context& context, Tensor x, const StatsOptions& options) {
  const tasks::TaskScope scope(context);
  const Comm& comm = context.comm();
  validate(options);
  tasks::require_order(x.tensor.order());
  if (options.formats) tasks::require_one_process(context, "stats with " + option_name("formats"));
  Timings timings;
  timings.add("load", x.load_seconds);
  std::optional<FormatChoice> choice;
  if (options.formats)
    choice = timings.measure("formats", [&] { return choose_format(context, x.tensor, options.rank); });
  auto statistics = timings.measure("count", [&] {
    return context.progress().during("counting duplicates and slices",
                                     [&] { return compute_statistics(comm, std::move(x.tensor)); });
  });
  tasks::warn_of_duplicates(context, x, statistics.num_duplicates);

  std::string text = report::statistics_text(statistics, x.labels);
  auto json = report::statistics_json(statistics, x.labels);
  if (choice) {
    text += "\n" + report::format_choice_text(*choice, options.rank);
    json["components"] = options.rank;
    json.update(report::format_choice_json(*choice));
  }
  if (!x.path.empty()) {
    text = fmt::format("{} ({})\n", x.path, io::traits(x.format).name) + text;
    json["format"] = io::traits(x.format).name;
  }
  json["processes"] = comm.size();
  json["threads"] = num_threads();
  tasks::add_seconds(json, timings);
  json["peak_memory_bytes"] = comm.all_reduce(peak_memory_bytes(), Reduce::max);
  return {{std::move(text), tasks::json_text(json)},
          std::move(statistics),
          choice ? predictions(*choice) : std::vector<FormatPrediction>(),
          choice ? format_called(choice->chosen.name) : StorageFormat::automatic};
}

}  // namespace polyad
