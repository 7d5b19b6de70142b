#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "polyad/base/error.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/find_labels.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  InputOptions input;
  std::string fix;
  bool force = false;
  Index max_shown = 20;
};

std::string described(const std::string& path, const io::Problem& problem) {
  return problem.line > 0 ? fmt::format("{}:{}: {}", path, problem.line, problem.message)
                          : fmt::format("{}: {}", path, problem.message);
}

void show_problems(const Console& console, const Args& args, const std::vector<io::Problem>& problems) {
  const auto shown = std::min<Index>(args.max_shown, Index(problems.size()));
  for (Index i = 0; i < shown; ++i) console.say(described(args.input.path, problems[i]));
  if (shown < Index(problems.size()))
    console.say(
        fmt::format("... and {} more (--max-shown shows more)", with_commas(Index(problems.size()) - shown)));
}

nlohmann::ordered_json problems_json(const std::vector<io::Problem>& problems) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& problem : problems) list.push_back({{"line", problem.line}, {"message", problem.message}});
  return list;
}

Index count_zeros(const SparseTensor<double>& x) {
  return std::ranges::count(x.values(), 0.0);
}

void run(const Comm& comm, const Args& args) {
  require_one_process(comm, "check");
  if (!args.fix.empty()) io::output_format(args.fix, {});  // a wrong name is told before the reading
  auto plan = plan_input(args.input);
  plan.writes_labelled("--fix", args.fix, existing(args.force));
  Console console(comm, args.common, plan);
  std::vector<io::Problem> problems;
  io::ReadOptions read = tasks::read_options(load_options(args.input));
  read.progress = &console.progress();
  read.problems = &problems;
  io::LoadedTensor loaded = io::read_tensor(args.input.path, read);
  loaded.path = args.input.path;
  const auto label_notes = tasks::add_labels(loaded, load_options(args.input).labels);
  for (const auto& note : loaded.notes) console.warn(args.input.path + ": " + note);
  for (const auto& note : label_notes) console.note(args.input.path + ": " + note);
  show_problems(console, args, problems);

  auto& x = loaded.tensor;
  const Index duplicates = console.progress().during("looking for duplicates", [&] {
    sort_nonzeros(x, natural_mode_order(x.order()));
    return merge_duplicates(x);
  });
  if (!std::ranges::all_of(x.values(), [](double value) { return std::isfinite(value); }))
    throw Error(Errc::bad_input, "duplicate coordinates add up to more than double precision holds",
                {args.input.path, 0});
  if (duplicates > 0)
    console.warn(args.input.path + ": " +
                 (args.fix.empty() ? counted(duplicates, "duplicate coordinate")
                                   : counted_were(duplicates, "duplicate coordinate") + " added up"));
  const auto faults = counted(Index(problems.size()), "fault");
  const auto verdict = problems.empty() ? "no faults" : faults;
  console.say(fmt::format("{}: {}; {} {} with {} nonzeros", args.input.path, verdict, dims_text(x.extents()),
                          io::traits(loaded.format).name, with_commas(x.num_nonzeros())));
  if (!args.fix.empty()) {
    save(args.fix, loaded, {{}, false, existing(args.force)}, console);
    console.say(fmt::format("{}: what is sound, sorted, duplicates added up", args.fix));
  }
  console.result({{"format", io::traits(loaded.format).name},
                  {"dims", x.extents()},
                  {"nnz", x.num_nonzeros()},
                  {"duplicates", duplicates},
                  {"explicit_zeros", count_zeros(x)},
                  {"faults", problems.size()},
                  {"problems", problems_json(problems)},
                  {"fixed", args.fix}});
  if (!problems.empty() && args.fix.empty())
    throw Error(Errc::bad_input,
                fmt::format("{}; check --fix OUT writes a file without {}", faults,
                            problems.size() == 1 ? "it" : "them"),
                {args.input.path, 0});
}

}  // namespace

void add_check(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand("check", "Read everything and report every fault with its line");
  add_input_options(*command, args->input);
  command->add_option("--fix", args->fix, "Write what is sound to this file, sorted, duplicates added up");
  add_force_option(*command, args->force);
  command->add_option("--max-shown", args->max_shown, "Faults to show (all are counted)")
      ->capture_default_str();
  add_common_options(*command, args->common);
  command->footer("Example: polyad check data/debian.tns.gz");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
