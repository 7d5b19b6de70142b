#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/completion_input.hpp"
#include "cli/input.hpp"
#include "cli/machine_file.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/dist/move_nonzeros.hpp"
#include "polyad/io/number_text.hpp"
#include "polyad/io/rating_model_file.hpp"
#include "polyad/kernels/factor.hpp"
#include "polyad/kernels/ranking_metrics.hpp"
#include "polyad/report/completion_page.hpp"
#include "polyad/report/completion_report.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  InputOptions input;
  CompletionOptions complete;
  std::string schedule = "adagrad", sync = "auto", partition = "random", test, precision = "single", out,
              page, memory, resume;
  double step = 0, decay = -1;  // not given: the schedule's own
  bool is_plain = false;
  Index ranking_k = 10;
};

StepSchedule parse_schedule(const Args& args) {
  StepSchedule schedule;
  for (const auto kind : all_step_schedules())
    if (args.schedule == to_string(kind)) schedule.kind = kind;
  if (args.decay >= 0 && schedule.kind != StepSchedule::Kind::inverse)
    throw Error(Errc::bad_option, "--decay goes with --schedule inverse");
  schedule.size = args.step > 0 ? args.step : default_step(schedule.kind);
  if (args.decay >= 0) schedule.decay = args.decay;
  return schedule;
}

CompletionOptions parse_options(const Args& args) {
  auto options = args.complete;
  options.step = parse_schedule(args);
  options.has_biases = !args.is_plain;
  return options;
}

void parse_sync(const Args& args, int processes, RatingLayout& layout) {
  if (args.sync == "auto") return;
  layout.is_stale_free = args.sync == "max";
  if (layout.is_stale_free) return;
  const auto number = io::parse_index(args.sync);
  if (!number || *number < 1 || *number > processes)
    throw Error(Errc::bad_option,
                fmt::format("--sync {}: expected auto, max, or a number from 1 to that of processes, {}",
                            args.sync, processes));
  layout.num_sub_epochs = int(*number);
}

void check_places(const Args& args, const TestSource& test) {
  using Type = std::filesystem::file_type;
  const auto& json = args.common.json;
  if (!args.out.empty()) {
    check_place(args.out, Type::directory);
    io::check_rating_model_place(args.out);
  }
  if (!args.page.empty()) check_place(args.page, Type::regular);
  if (!json.empty() && json != "-") check_place(json, Type::regular);
  auto inputs = input_paths(args.input);
  inputs.push_back({"the file that --test names", test.file});
  inputs.push_back({"the file that --partition names", user_partition_file(args.partition)});
  check_distinct({{"the model to go on from", args.resume}},
                 {{"--report", args.page}, {"--json", json == "-" ? "" : json}});
  check_distinct(inputs, {{"--out", args.out}, {"--report", args.page}, {"--json", json == "-" ? "" : json}});
}

// What a process is predicted to need at most: ratings three times over, as they came, sorted, and arranged;
// rows as they are, before the epoch, and at their best. Collective.
template <class Real>
void check_memory(const Comm& comm, const Args& args, const SplitRatings& own) {
  if (args.memory.empty()) return;
  const Index limit = parse_bytes(args.memory, "--memory");
  const Index ratings = own.train.num_nonzeros() + own.test.num_nonzeros();
  const auto users = double(own.train.extent(0)) / comm.size(), items = double(own.train.extent(1));
  const double row = double(padded_components(args.complete.num_factors) + 2) * sizeof(Real);
  const double mine =
      double(ratings) * (2 * 24.0 + 2 * sizeof(LocalRating<Real>)) + 3 * row * (users + items) + 24.0 * items;
  const double most = comm.all_reduce(mine, Reduce::max);
  if (most > double(limit))
    throw Error(Errc::resource,
                fmt::format("training would need about {} per process, more than --memory {}; fewer factors, "
                            "single precision or more processes need less",
                            with_prefix(most, "B"), args.memory));
}

SparseTensor<double> gather_ratings(const Comm& comm, const SparseTensor<double>& own) {
  return move_nonzeros(comm, own, std::vector<int>(std::size_t(own.num_nonzeros()), 0));
}

// Ratings that are ready to be learned from, and what it took.
template <class Real>
struct ReadyRatings {
  std::vector<ModeLabels> labels;
  std::optional<EarlierTraining<Real>> earlier;
  OwnRatings own;
  Index num_unknown = 0;  // of the test file
  DistRatings<Real> x;
  double load_seconds = 0, distribute_seconds = 0;
};

// The model, ranking and examples for the page: by the process that has them all.
template <class Real>
std::vector<ExampleUser> finish(const Comm& comm, const Args& args, const ReadyRatings<Real>& ready,
                                const CompletionOptions& options, const CompletionResult<Real>& result,
                                CompletionRun& run, Console& console) {
  const Stopwatch watch;
  const bool ranks = args.ranking_k > 0 && ready.x.num_test > 0;
  std::vector<ExampleUser> examples;
  if (args.out.empty() && args.page.empty() && !ranks) return examples;
  auto trained = gather_model(ready.x, result.users, result.items, travelling_words(options));
  const auto train = gather_ratings(comm, ready.own.split.train),
             test = gather_ratings(comm, ready.own.split.test);
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    if (ready.earlier) carry_over(*ready.earlier, trained);
    if (ranks) run.ranking = measure_ranking(trained.model, train, test, args.ranking_k);
    if (!args.page.empty()) examples = example_users(trained.model, train, ready.labels);
    if (args.out.empty()) return;
    const RatingTraining<Real> training{run.best_epoch, result.last_step, options.shrinkage,
                                        trained.user_squares, trained.item_squares};
    io::write_rating_model(args.out, trained.model, training, train, ready.labels);
  });
  run.output_seconds = watch.seconds();
  if (!args.out.empty()) console.say(args.out + ": the model");
  return examples;
}

// Collective.
void save_page(const Comm& comm, const Args& args, const CompletionRun& run,
               std::vector<ExampleUser> examples, Console& console) {
  if (args.page.empty()) return;
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    write_text(args.page,
               completion_page({args.input.path, run, std::move(examples), "polyad " POLYAD_VERSION}));
  });
  console.say(args.page + ": a page to look at");
}

// What would end in nonsense after all epochs is told before the first.
template <class Real>
void check_ratings(const DistRatings<Real>& x, const Args& args) {
  if (x.num_ratings == 0)
    throw Error(Errc::bad_input,
                args.test.empty() ? "has no ratings" : "--test leaves no rating to learn from",
                {args.input.path, 0});
  const double most = sizeof(Real) == sizeof(float) ? 1e30 : 1e150;
  if (!(x.scale < most && x.scale > 1 / most && std::abs(x.mean) < most))
    throw Error(Errc::bad_input,
                fmt::format("the ratings, of mean {:.3g} and deviation {:.3g}, are beyond {} precision",
                            x.mean, x.scale, args.precision),
                {args.input.path, 0});
}

void check_labels(const io::LoadedTensor& loaded, const Args& args) {
  if (args.out.empty()) return;
  for (int m = 0; m < 2; ++m) {
    const auto count = std::ssize(loaded.labels[m].labels);
    if (count > 0 && count != loaded.tensor.extent(m))
      throw Error(Errc::bad_input,
                  fmt::format("has {} {} but {} names for them: a model cannot be kept",
                              loaded.tensor.extent(m), m == 0 ? "users" : "items", count),
                  {args.input.path, 0});
  }
}

template <class Real>
ReadyRatings<Real> make_ready(const Comm& comm, const Args& args, const CompletionOptions& options,
                              const MachineModel& machine, Console& console) {
  const auto test = parse_test(args.test, options.seed);
  RatingLayout layout;
  parse_sync(args, comm.size(), layout);
  collectively(comm, [&] { check_places(args, test); });

  Stopwatch watch;
  auto loaded = load(comm, args.input, console);
  require_ratings(loaded, args.input.path);
  check_labels(loaded, args);
  TestRatings from_file{SparseTensor<double>(loaded.tensor.extents()), 0};
  if (!test.file.empty()) from_file = load_test(comm, test.file, args.input, loaded, console);
  ReadyRatings<Real> ready{{}, {}, {}, from_file.num_unknown, DistRatings<Real>(comm), 0, 0};
  if (!args.resume.empty()) ready.earlier = load_earlier<Real>(comm, args.resume, loaded, options);
  ready.load_seconds = watch.lap();

  const auto owners = console.progress().during("dealing out users", [&] {
    return own_users(comm, loaded.tensor, args.partition, args.input.path, options.seed, console);
  });
  ready.own = move_to_users(comm, std::move(loaded.tensor), owners, test.split);
  if (!test.file.empty())
    ready.own.split.test = move_to_users(comm, std::move(from_file.share), owners, {}).split.train;
  check_memory<Real>(comm, args, ready.own.split);
  layout.centres = options.has_biases;
  layout.seed = options.seed;
  layout.row = {options.num_factors, travelling_words(options).per_row(), sizeof(Real)};
  layout.machine = machine;
  ready.x = lay_out_ratings<Real>(comm, ready.own.split, layout);
  check_ratings(ready.x, args);
  ready.labels = std::move(loaded.labels);
  ready.distribute_seconds = watch.lap();
  return ready;
}

template <class Real>
void warn_of_ratings(const ReadyRatings<Real>& ready, const Args& args, const Console& console) {
  if (ready.own.num_duplicates > 0)
    console.warn(fmt::format("{}: {} repeated by a later line, and dropped", args.input.path,
                             counted_were(ready.own.num_duplicates, "rating")));
  if (!args.test.empty() && ready.x.num_test == 0)
    console.warn(fmt::format("--test {}: there is nothing to test on", args.test));
  if (ready.num_unknown > 0)
    console.warn(fmt::format("{}: {} left out, of users or items that the training ratings do not have",
                             args.test, counted_were(ready.num_unknown, "rating")));
}

template <class Real>
void run_with(const Comm& comm, const Args& args) {
  Console console(comm, args.common);
  auto options = parse_options(args);
  const auto machine = load_machine(comm);
  auto ready = make_ready<Real>(comm, args, options, machine.model, console);
  // The step that was left of it, unless one is asked for; an inverse one follows from the epoch.
  const bool is_step_kept = ready.earlier && args.step == 0 && ready.earlier->training.step > 0;
  if (is_step_kept && options.step.kind != StepSchedule::Kind::inverse)
    options.step.size = std::min(options.step.size, ready.earlier->training.step);
  warn_of_ratings(ready, args, console);

  const Stopwatch watch;
  const auto result = sgd_completion(
      ready.x, options,
      [&](const EpochRecord& record) {
        if (record.was_undone)
          console.warn(epoch_text(record));
        else
          console.say(epoch_text(record));
        return true;
      },
      ready.earlier ? &*ready.earlier : nullptr);
  auto run = describe_completion(ready.x, options, result, machine.model);
  run.train_seconds = watch.seconds();
  run.load_seconds = ready.load_seconds;
  run.distribute_seconds = ready.distribute_seconds;
  run.machine = machine.source;
  run.num_duplicates = ready.own.num_duplicates;
  run.num_unknown = ready.num_unknown;
  if (comm.size() > 1) run.partition = user_partition_file(args.partition).empty() ? args.partition : "file";
  run.test = args.test.empty() ? "none" : args.test;
  auto examples = finish(comm, args, ready, options, result, run, console);
  run.peak_memory_bytes = comm.all_reduce(peak_memory_bytes(), Reduce::max);
  console.say(completion_text(run));
  save_page(comm, args, run, std::move(examples), console);
  console.result(completion_json(run));
}

void run(const Comm& comm, const Args& args) {
  if (args.precision == "single")
    run_with<float>(comm, args);
  else
    run_with<double>(comm, args);
}

void add_training_options(CLI::App& command, Args& args) {
  auto& complete = args.complete;
  command.add_option("-r,--rank", complete.num_factors, "Number of factors")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  command.add_option("-e,--epochs", complete.max_epochs, "Most epochs")
      ->capture_default_str()
      ->check(CLI::Range(0, std::numeric_limits<int>::max()));
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
          "With --test: stop after so many epochs without a lower error (0: never, and keep the last)")
      ->capture_default_str()
      ->check(CLI::Range(0, std::numeric_limits<int>::max()));
  command.add_option("--seed", complete.seed, "Of the start, of --test and of --partition random")
      ->capture_default_str()
      ->check(fault_of_seed);
  command.add_option("--precision", args.precision, "Of the model")
      ->capture_default_str()
      ->check(CLI::IsMember({"single", "double"}));
}

}  // namespace

void add_complete(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand("complete", "Learn a recommender from ratings of items by users");
  add_training_options(*command, *args);
  auto* test = command->add_option(
      "--test", args->test, "Ratings to test on: a file, a share of the ratings as in 0.1, or leave-one-out");
  command->get_option("--patience")->needs(test);
  command
      ->add_option("--sync", args->sync,
                   "Sub-epochs per epoch, after which processes synchronise: auto, max (no staleness), or a "
                   "number")
      ->capture_default_str();
  command
      ->add_option("--partition", args->partition,
                   "Which process has which user: random, block, hypergraph, or a file with a part per user")
      ->capture_default_str();
  command
      ->add_option("--ranking", args->ranking_k,
                   "With --test: measure so many first recommendations per user (0: do not)")
      ->needs(test)
      ->capture_default_str()
      ->check(CLI::Range(0, 10000));
  command->add_option("--out", args->out, "Write the model: a directory, for recommend and predict");
  command->add_option("--report", args->page, "Write a page to look at: one HTML file, no network needed");
  command->add_option("--resume", args->resume, "Go on training the model in this directory");
  command->add_option("--memory", args->memory, "Memory per process that may be used, as in 800MB")
      ->check(fault_of_memory);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad complete ratings.dat -r 16 --test 0.1 --out model");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
