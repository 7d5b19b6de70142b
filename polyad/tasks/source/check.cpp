#include "polyad/tasks/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "polyad/base/error.hpp"
#include "polyad/io/tensors/file_series.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/checkpoints/checked_checkpoints.hpp"
#include "polyad/tasks/detail/find_labels.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tasks/detail/values/prepare_values.hpp"
#include "polyad/tasks/save.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

Tensor read_sound(const Context& context, const TensorFiles& files, const LoadOptions& options,
                  std::vector<io::Problem>& problems) {
  io::ReadOptions read = tasks::read_options(options);
  read.progress = &context.progress();
  read.problems = &problems;
  const auto source = tasks::source_files(files);
  Tensor x = io::read_tensor_series(source.files, read);
  for (auto& problem : problems) problem.message = context.shown(problem.message);
  x.sums_duplicates = options.value == "1";
  const auto label_notes = tasks::add_labels(x, source, options.labels);
  tasks::tell_notes(context, x, label_notes);
  return x;
}

// Sorts, and returns how many nonzeros were added to others.
Index merge_sorted(const Context& context, Tensor& x) {
  const Index duplicates = context.progress().during("looking for duplicates", [&] {
    sort_nonzeros(x.tensor, natural_mode_order(x.tensor.order()));
    return merge_duplicates(x.tensor);
  });
  if (!std::ranges::all_of(x.tensor.values(), [](double value) { return std::isfinite(value); }))
    throw Error(Errc::bad_input, "duplicate coordinates add up to more than double precision holds",
                {x.path, 0});
  return duplicates;
}

nlohmann::ordered_json check_json(const Tensor& x, const std::vector<io::Problem>& problems, Index duplicates,
                                  const CheckOptions& options) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& problem : problems)
    list.push_back({{"file", problem.file}, {"line", problem.line}, {"message", problem.message}});
  return {{"format", io::traits(x.format).name},
          {"dims", x.tensor.extents()},
          {"nnz", x.tensor.num_nonzeros()},
          {"duplicates", duplicates},
          {"explicit_zeros", std::ranges::count(x.tensor.values(), 0.0)},
          {"faults", problems.size()},
          {"problems", std::move(list)},
          {"fixed", options.fix.string()}};
}

}  // namespace

std::string to_text(const FileFault& fault) {
  const auto line = fault.line > 0 ? fmt::format(":{}", fault.line) : "";
  return fmt::format("{}{}: {}", fault.file, line, fault.message);
}

void validate(const CheckOptions& options) {
  if (!options.fix.empty()) io::output_format(options.fix, {});
  tasks::check_value_options(options.load);
}

CheckedFile check(const Context& context, const TensorFiles& files, const CheckOptions& options) {
  const tasks::TaskScope scope(context);
  tasks::require_one_process(context, "check");
  validate(options);
  if (files.paths.size() == 1)
    if (auto checked = tasks::check_checkpoints(files.paths.front())) {
      if (!options.fix.empty())
        tasks::refuse_option(fmt::format("{}: {} holds checkpoints, which cannot be mended",
                                         option_name("fix"), files.paths.front().string()));
      if (options.on_faults) options.on_faults(checked->faults());
      return std::move(*checked);
    }
  std::vector<io::Problem> problems;
  Tensor x = read_sound(context, files, options.load, problems);
  for (auto& problem : problems)
    if (problem.file.empty()) problem.file = x.path;
  std::vector<FileFault> faults;
  for (const auto& problem : problems) faults.push_back({problem.line, problem.message, problem.file});
  if (options.on_faults) options.on_faults(faults);
  const bool is_asked = tasks::prepares_values(options.load);
  const Index duplicates =
      is_asked ? tasks::prepare_values(context, x, options.load) : merge_sorted(context, x);
  if (!options.fix.empty() && !is_asked)
    tasks::warn_of_duplicates(context, x, duplicates);
  else if (duplicates > 0 && !is_asked && !x.sums_duplicates)
    context.warn(x.path + ": " + report::counted(duplicates, "duplicate coordinate"));

  const auto verdict = problems.empty() ? "no faults" : report::counted(Index(problems.size()), "fault");
  std::string text =
      fmt::format("{}: {}; {} {} with {}", x.path, verdict, report::dims_text(x.tensor.extents()),
                  io::traits(x.format).name, report::counted(x.tensor.num_nonzeros(), "nonzero"));
  if (!options.fix.empty()) {
    for (const auto& file : save(context, x, options.fix, {.existing = options.existing}))
      text += "\nwrote labels to " + file.string();
    text +=
        fmt::format("\nwrote sound nonzeros to {}, sorted, with duplicates added up", options.fix.string());
  }
  auto json = tasks::json_text(check_json(x, problems, duplicates, options));
  return {{std::move(text), std::move(json)}, std::move(faults), verdict, std::move(x), duplicates};
}

}  // namespace polyad
