#include "cli/completion_args.hpp"

#include <fmt/format.h>

#include <limits>

#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/stored_partition.hpp"

namespace polyad::cli {
namespace {

StepSchedule parse_schedule(const CompletionArgs& args) {
  StepSchedule schedule;
  for (const auto kind : all_step_schedules())
    if (args.schedule == to_string(kind)) schedule.kind = kind;
  if (args.decay >= 0 && schedule.kind != StepSchedule::Kind::inverse)
    throw Error(Errc::bad_option, "--decay goes with --schedule inverse");
  schedule.size = args.step > 0 ? args.step : default_step(schedule.kind);
  if (args.decay >= 0) schedule.decay = args.decay;
  return schedule;
}

void add_training_options(CLI::App& command, CompletionArgs& args) {
  auto& complete = args.complete;
  command.add_option("-r,--rank", complete.num_factors, "Number of factors")
      ->capture_default_str()
      ->check(in_range(1, 100000));
  command.add_option("-e,--epochs", complete.max_epochs, "Most epochs")
      ->capture_default_str()
      ->check(in_range(0, std::numeric_limits<int>::max()));
  std::vector<std::string> schedules;
  for (const auto kind : all_step_schedules()) schedules.push_back(to_string(kind));
  command.add_option("--schedule", args.schedule, "How the step changes")
      ->capture_default_str()
      ->check(CLI::IsMember(schedules));
  command
      .add_option("--lr", args.step,
                  "The first step, for ratings of deviation 1 (else 0.05 for adagrad and 0.03 for others)")
      ->check(fault_of_real)
      ->check(CLI::PositiveNumber);
  command.add_option("--decay", args.decay, "Of --schedule inverse: step / (1 + decay * epoch); else 0.1")
      ->check(fault_of_real)
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--reg", complete.shrinkage.per_rating,
                  "L2 regularisation of factors, per rating, for ratings of deviation 1")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--shrink", complete.shrinkage.per_row,
                  "Draw users and items with few ratings to the mean, as so many ratings of the mean would")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--no-bias", args.is_plain, "Factors alone: no mean, no biases of users and items");
  command
      .add_option(
          "--patience", complete.patience,
          "With --test: stop after N epochs in which the test error did not fall by 0.01 %, and keep the "
          "epoch with the lowest (0: train all epochs and keep the last)")
      ->capture_default_str()
      ->check(in_range(0, std::numeric_limits<int>::max()));
  command.add_option("--seed", complete.seed, "Of the start, of --test and of --partition random")
      ->capture_default_str()
      ->check(fault_of_seed);
  command.add_option("--precision", args.precision, "Of the model")
      ->capture_default_str()
      ->check(CLI::IsMember({"single", "double"}));
}

void add_process_options(CLI::App& command, CompletionArgs& args) {
  command
      .add_option("--sync", args.sync,
                  "Sub-epochs per epoch, after which processes synchronise: auto, max (no staleness), or a "
                  "number")
      ->capture_default_str();
  command
      .add_option("--by", args.by,
                  "Who is dealt out to processes: users, items, or auto, what is predicted to be quicker")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "users", "items"}));
  command
      .add_option("--partition", args.partition,
                  "Which process has which of them: random, block, hypergraph, or a file with a part for "
                  "each (users, unless --by items is said)")
      ->capture_default_str();
  add_cache_option(command, args.cache);
  command.add_option("--memory", args.memory, "Memory per process that may be used, as in 800MB")
      ->check(fault_of_memory);
}

}  // namespace

CompletionOptions parse_training(const CompletionArgs& args) {
  auto options = args.complete;
  options.step = parse_schedule(args);
  options.has_biases = !args.is_plain;
  return options;
}

RatingLayout parse_layout(const CompletionArgs& args, int processes) {
  if (!args.cache.empty() && args.partition != "hypergraph")
    throw Error(Errc::bad_option, "--cache goes with --partition hypergraph");
  RatingLayout layout;
  layout.centres = !args.is_plain;
  layout.seed = args.complete.seed;
  layout.is_stale_free = args.sync == "max";
  if (args.sync == "auto" || layout.is_stale_free) return layout;
  const auto number = io::parse_index(args.sync);
  if (!number || *number < 1 || *number > processes)
    throw Error(Errc::bad_option,
                fmt::format("--sync {}: expected auto, max, or a number from 1 to that of processes, {}",
                            args.sync, processes));
  layout.num_sub_epochs = int(*number);
  return layout;
}

FilePlan file_plan(const CompletionArgs& args, const TestSource& test) {
  auto plan = plan_input(args.input);
  plan.reads("the file that --test names", test.file);
  plan.reads("the file that --partition names", partition_file_of(args.partition));
  plan.reads("the constants of this machine", tasks::machine_file());
  plan_cache(plan, args.cache);
  plan.goes_on_from("the model to go on from", args.resume);
  plan.writes_model("--out", args.out, [out = args.out] { io::check_rating_model_place(out); });
  return plan.writes("--report", args.page);
}

void add_completion_options(CLI::App& command, CompletionArgs& args) {
  add_training_options(command, args);
  auto* test = command.add_option(
      "--test", args.test, "Ratings to test on: a file, a share of the ratings as in 0.1, or leave-one-out");
  command.get_option("--patience")->needs(test);
  command
      .add_option("--ranking", args.ranking_k,
                  "With --test: measure so many first recommendations per user (0: do not)")
      ->needs(test)
      ->capture_default_str()
      ->check(in_range(0, 10000));
  add_process_options(command, args);
  command.add_option("--out", args.out, "Write the model: a directory, for recommend and predict");
  command.add_option("--report", args.page, "Write a page to look at: one HTML file, no network needed");
  command.add_option("--resume", args.resume, "Go on training the model in this directory");
  add_input_options(command, args.input);
  add_common_options(command, args.common);
}

}  // namespace polyad::cli
