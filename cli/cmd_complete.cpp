#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/machine_file.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "cli/partition_cache.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/dist/distribution.hpp"
#include "polyad/dist/move_nonzeros.hpp"
#include "polyad/io/coordinate_file.hpp"
#include "polyad/io/number_text.hpp"
#include "polyad/io/partition_file.hpp"
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
  double step = 0, decay = 0.1;  // a step of 0: the schedule's own
  bool is_plain = false;
  Index ranking_k = 10;
};

// --test: a file, a share of the ratings, or leave-one-out.
struct TestSource {
  RatingSplit split;
  std::string file;
};

TestSource parse_test(const Args& args) {
  TestSource source;
  source.split.seed = args.complete.seed;
  if (args.test.empty()) return source;
  if (args.test == "leave-one-out") {
    source.split.kind = RatingSplit::Kind::leave_one_out;
  } else if (const auto share = io::parse_real(args.test)) {
    if (!(*share > 0 && *share < 1))
      throw Error(Errc::bad_option,
                  fmt::format("--test {}: expected a share between 0 and 1, as in 0.1", args.test));
    source.split.kind = RatingSplit::Kind::fraction;
    source.split.fraction = *share;
  } else {
    source.file = args.test;
  }
  return source;
}

StepSchedule parse_schedule(const Args& args) {
  StepSchedule schedule;
  for (const auto kind : all_step_schedules())
    if (args.schedule == to_string(kind)) schedule.kind = kind;
  if (args.decay != Args{}.decay && schedule.kind != StepSchedule::Kind::inverse)
    throw Error(Errc::bad_option, "--decay goes with --schedule inverse");
  schedule.size = args.step > 0 ? args.step : default_step(schedule.kind);
  schedule.decay = args.decay;
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

std::string partition_file(const Args& args) {
  const auto& name = args.partition;
  return name == "random" || name == "block" || name == "hypergraph" ? "" : name;
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
  inputs.push_back({"the file that --partition names", partition_file(args)});
  check_distinct(inputs, {{"--out", args.out}, {"--report", args.page}, {"--json", json == "-" ? "" : json}});
}

// Which process has each user. Collective.
RowOwners own_users(const Comm& comm, const SparseTensor<double>& share, const Args& args,
                    const Console& console) {
  if (comm.size() == 1) return {};
  const auto& seed = args.complete.seed;
  const auto file = partition_file(args);
  if (!file.empty()) {
    const Index rows = share.extent(0);
    return ListedRows{{}, collectively(comm, [&] {
                        return io::read_partition(file, {0, rows, rows, comm.size()});
                      })};
  }
  if (args.partition == "hypergraph") {
    auto kept =
        partition_or_reuse(comm, share, args.input.path, completion_partition_options(comm.size(), seed));
    if (!kept.notice.empty()) console.warn(kept.notice);
    return ListedRows{{}, std::move(kept.parts)};
  }
  const Distributor distributor(comm, share, comm.size(), seed);
  const auto distribution =
      args.partition == "block" ? distributor.coarse_block() : distributor.coarse_random();
  return distribution.rows[0];
}

struct TestRatings {
  SparseTensor<double> share;
  Index num_unknown = 0;
};

// The ratings of a test file, under the numbers of the training file. One process reads it. Collective.
TestRatings load_test(const Comm& comm, const std::string& path, const Args& args,
                      const io::LoadedTensor& loaded, const Console& console) {
  const auto extents = loaded.tensor.extents();
  auto test = collectively(comm, [&] {
    TestRatings result{SparseTensor<double>(extents), 0};
    if (comm.rank() != 0) return result;
    const io::IndexSpace space(extents, loaded.labels, io::IndexSpace::Unknown::leave_out);
    auto input = args.input;
    input.path = path;
    input.labels.clear();
    auto read = read_options(input, space);
    const bool has_names = !loaded.labels[0].empty() || !loaded.labels[1].empty();
    if (!has_names && !read.index_base) read.index_base = loaded.index_base;
    const io::CoordinateFile file(path, read);
    if (!file.has_values()) throw Error(Errc::bad_input, "has no ratings to test with", {path, 0});
    for (const auto& note : file.notes()) console.warn(fmt::format("{}: {}", path, note));
    file.for_each_batch([&](const io::CoordinateBatch& batch) {
      for (Index z = 0; z < batch.size(); ++z)
        result.share.append(std::vector{batch.indices[0][z], batch.indices[1][z]}, batch.values[z]);
    });
    result.num_unknown = file.num_unknown();
    return result;
  });
  test.num_unknown = comm.all_reduce(test.num_unknown);
  return test;
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

// The model, ranking and examples for the page: by the process that has them all.
template <class Real>
std::vector<ExampleUser> finish(const Comm& comm, const Args& args, const io::LoadedTensor& loaded,
                                const SplitRatings& own, const DistRatings<Real>& x,
                                const CompletionOptions& options, const CompletionResult<Real>& result,
                                CompletionRun& run, Console& console) {
  const Stopwatch watch;
  const bool ranks = args.ranking_k > 0 && x.num_test > 0;
  std::vector<ExampleUser> examples;
  if (args.out.empty() && args.page.empty() && !ranks) return examples;
  const auto trained = gather_model(x, result.users, result.items, travelling_words(options));
  const auto train = gather_ratings(comm, own.train), test = gather_ratings(comm, own.test);
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    if (ranks) run.ranking = measure_ranking(trained.model, train, test, args.ranking_k);
    if (!args.page.empty()) examples = example_users(trained.model, train, loaded.labels);
    if (args.out.empty()) return;
    const RatingTraining<Real> training{run.best_epoch, result.last_step, options.regularisation,
                                        trained.user_squares, trained.item_squares};
    io::write_rating_model(args.out, trained.model, training, train, loaded.labels);
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

template <class Real>
std::optional<EarlierTraining<Real>> load_earlier(const Comm& comm, const Args& args,
                                                  std::span<const Index> extents, Index num_factors) {
  if (args.resume.empty()) return std::nullopt;
  return collectively(comm, [&]() -> std::optional<EarlierTraining<Real>> {
    auto stored = io::read_rating_factors<Real>(args.resume);
    if (stored.model.num_factors() != num_factors)
      throw Error(Errc::bad_option, fmt::format("--rank {}: the model in {} has {} factors", num_factors,
                                                args.resume, stored.model.num_factors()));
    if (stored.model.num_users() > extents[0] || stored.model.num_items() > extents[1])
      throw Error(Errc::bad_input,
                  fmt::format("has {} users and {} items, more than the ratings have",
                              stored.model.num_users(), stored.model.num_items()),
                  {args.resume, 0});
    return EarlierTraining<Real>{std::move(stored.model), std::move(stored.training)};
  });
}

template <class Real>
void run_with(const Comm& comm, const Args& args) {
  Console console(comm, args.common);
  const auto test = parse_test(args);
  const auto options = parse_options(args);
  RatingLayout layout;
  parse_sync(args, comm.size(), layout);
  collectively(comm, [&] { check_places(args, test); });

  Stopwatch watch;
  auto loaded = load(comm, args.input, console);
  require_ratings(loaded, args.input.path);
  TestRatings from_file{SparseTensor<double>(loaded.tensor.extents()), 0};
  if (!test.file.empty()) from_file = load_test(comm, test.file, args, loaded, console);
  const double load_seconds = watch.lap();

  const auto machine = load_machine(comm);
  const auto owners = console.progress().during(
      "dealing out users", [&] { return own_users(comm, loaded.tensor, args, console); });
  auto own = move_to_users(comm, std::move(loaded.tensor), owners, test.split);
  if (!test.file.empty())
    own.split.test = move_to_users(comm, std::move(from_file.share), owners, {}).split.train;
  check_memory<Real>(comm, args, own.split);
  layout.centres = options.has_biases;
  layout.seed = options.seed;
  layout.row = {options.num_factors, travelling_words(options).per_row(), sizeof(Real)};
  layout.machine = machine.model;
  auto x = lay_out_ratings<Real>(comm, own.split, layout);
  const double distribute_seconds = watch.lap();
  if (own.num_duplicates > 0)
    console.warn(fmt::format("{}: {} repeated by a later line, and dropped", args.input.path,
                             counted_were(own.num_duplicates, "rating")));
  if (from_file.num_unknown > 0)
    console.warn(fmt::format("{}: {} left out, of users or items that the training ratings do not have",
                             test.file, counted_were(from_file.num_unknown, "rating")));

  const auto earlier = load_earlier<Real>(comm, args, own.split.train.extents(), options.num_factors);
  const auto result = sgd_completion(
      x, options,
      [&](const EpochRecord& record) {
        if (record.was_undone)
          console.warn(epoch_text(record));
        else
          console.say(epoch_text(record));
        return true;
      },
      earlier ? &*earlier : nullptr);
  auto run = describe_completion(x, options, result, machine.model);
  run.train_seconds = watch.lap();
  run.load_seconds = load_seconds;
  run.distribute_seconds = distribute_seconds;
  run.machine = machine.source;
  run.num_duplicates = own.num_duplicates;
  run.num_unknown = from_file.num_unknown;
  run.partition = comm.size() == 1 ? "none" : partition_file(args).empty() ? args.partition : "file";
  run.test = args.test.empty() ? "none" : args.test;
  auto examples = finish(comm, args, loaded, own.split, x, options, result, run, console);
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
  command.add_option("--decay", args.decay, "Of --schedule inverse: step / (1 + decay * epoch)")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(CLI::NonNegativeNumber);
  command.add_option("--reg", complete.regularisation, "L2 regularisation, for ratings of deviation 1")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--no-bias", args.is_plain, "Factors alone: no mean, no biases of users and items");
  command
      .add_option("--patience", complete.patience,
                  "Stop after so many epochs without a lower test error (0: never)")
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
  command->add_option("--test", args->test,
                      "Ratings to test on: a file, a share of the ratings as in 0.1, or leave-one-out");
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
