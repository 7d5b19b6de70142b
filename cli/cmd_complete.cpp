#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/completion_args.hpp"
#include "cli/completion_memory.hpp"
#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "polyad/kernels/ratings/ranking_metrics.hpp"
#include "polyad/report/completion_report.hpp"
#include "polyad/report/html/completion_page.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/memory_use.hpp"
#include "polyad/tasks/detail/output_files.hpp"
#include "polyad/version.hpp"

namespace polyad::cli {
namespace {

using Args = CompletionArgs;

// As people know them: users first.
SparseTensor<double> gather_ratings(const Comm& comm, const SparseTensor<double>& own, RatingSide first) {
  return turned(move_nonzeros(comm, own, std::vector<int>(std::size_t(own.num_nonzeros()), 0)), first);
}

// Ratings that are ready to be learned from, and what it took. The side that was dealt out is first in all
// of them but the labels.
template <class Real>
struct ReadyRatings {
  explicit ReadyRatings(const Comm& comm) : x(comm) {}

  std::vector<ModeLabels> labels;
  std::optional<EarlierTraining<Real>> earlier;
  DealtRatings dealt;                              // but for the rotation, which x has
  Index num_duplicates = 0;                        // dropped
  Index num_test_duplicates = 0, num_unknown = 0;  // of the test file: dropped; left out
  DistRatings<Real> x;
  double load_seconds = 0, distribute_seconds = 0;
};

// The model, ranking and examples for the page: by the process that has them all.
template <class Real>
std::vector<ExampleUser> finish(const Comm& comm, const Args& args, const ReadyRatings<Real>& ready,
                                const CompletionOptions& options, const CompletionResult<Real>& result,
                                CompletionRun& run, Console& console) {
  const OneProcessWorks patience;
  const Stopwatch watch;
  std::vector<ExampleUser> examples;
  const auto after = what_follows(args, ready.x.num_test);
  if (!after.gathers()) return examples;
  trim_memory();  // of training
  auto trained = gather_model(ready.x, result.users, result.items, travelling_words(options));
  const auto by = ready.dealt.by;
  auto train = gather_ratings(comm, ready.dealt.split.train, by);
  const auto test = gather_ratings(comm, ready.dealt.split.test, by);
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    if (ready.earlier) carry_over(*ready.earlier, trained);
    trained = turned(std::move(trained), by);
    if (after.ranks) run.ranking = measure_ranking(trained.model, train, test, args.ranking_k);
    if (after.keeps) {
      const RatingTraining<Real> training{run.best_epoch, result.last_step, options.shrinkage,
                                          trained.user_squares, trained.item_squares};
      io::write_rating_model(args.out, trained.model, training, train, ready.labels);
    }
    if (after.shows) examples = example_users(trained.model, std::move(train), ready.labels);
  });
  run.output_seconds = watch.seconds();
  if (after.keeps) console.say(args.out + ": the model");
  return examples;
}

// Collective.
void save_page(const Comm& comm, const Args& args, const CompletionRun& run,
               std::vector<ExampleUser> examples, Console& console) {
  if (args.page.empty()) return;
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    tasks::write_text(args.page,
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

// Collective.
template <class Real>
void check_space(const Comm& comm, const SparseTensor<double>& share, const Args& args) {
  if (args.out.empty()) return;
  const Index num_ratings = comm.all_reduce(share.num_nonzeros());
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    const double rows = double(share.extent(0)) + double(share.extent(1));
    const double row_bytes = double(args.complete.num_factors + 2) * sizeof(Real);  // with bias and squares
    tasks::require_space(args.out,
                         rows * row_bytes + io::min_bytes("training.ptb", share.extents(), num_ratings),
                         "the model would take about");
  });
}

// Brings ratings, and those of a test file, to the processes that have their users; counts duplicates.
template <class Real>
SplitRatings split_by_users(const Comm& comm, SplitRatings shares, const TestSource& test,
                            const RowOwners& users, ReadyRatings<Real>& ready) {
  auto own = move_to_users(comm, std::move(shares.train), users, test.split);
  ready.num_duplicates = own.num_duplicates;
  if (!test.file.empty()) {
    auto tested = move_to_users(comm, std::move(shares.test), users, {});
    own.split.test = std::move(tested.split.train);
    ready.num_test_duplicates = tested.num_duplicates;
  }
  return std::move(own.split);
}

template <class Real>
ReadyRatings<Real> make_ready(const Comm& comm, const Args& args, const CompletionOptions& options,
                              const TestSource& test, const MachineModel& machine, Console& console) {
  auto layout = parse_layout(args, comm.size());
  layout.row = {options.num_factors, travelling_words(options).per_row(), sizeof(Real)};
  layout.machine = machine;
  Stopwatch watch;
  ReadyRatings<Real> ready(comm);
  auto loaded = load(args.input, console);
  collectively(comm, [&] {
    require_ratings(loaded, args.input.path, {double(options.num_factors) * sizeof(Real), comm.size()});
  });
  check_labels(loaded, args);
  check_space<Real>(comm, loaded.tensor, args);
  TestRatings from_file{SparseTensor<double>(loaded.tensor.extents()), 0};
  if (!test.file.empty()) from_file = load_test(comm, test.file, args.input, loaded, console);
  ready.num_unknown = from_file.num_unknown;
  if (!args.resume.empty()) ready.earlier = load_earlier<Real>(comm, args.resume, loaded, options);
  ready.load_seconds = watch.lap();

  const DealOptions how{args.by, args.partition, args.cache, options.seed};
  ready.dealt = console.progress().during("dealing out ratings", [&] {
    const auto owners = own_sides(comm, loaded.tensor, how, console);
    // To hold out one rating of a user all must be seen: first to users, also where items are dealt out.
    const RowOwners any = ShuffledParts(loaded.tensor.extent(0), comm.size(), options.seed);
    auto split = split_by_users(comm, {std::move(loaded.tensor), std::move(from_file.share)}, test,
                                owners.users.value_or(any), ready);
    return distribute(comm, std::move(split), owners, layout);
  });
  if (ready.earlier) ready.earlier = turned(std::move(*ready.earlier), ready.dealt.by);
  check_memory<Real>(comm, args, ready.dealt, ready.earlier ? &ready.earlier->model : nullptr);
  ready.x = lay_out_ratings<Real>(comm, ready.dealt.split, std::move(ready.dealt.rotation), layout);
  check_ratings(ready.x, args);
  ready.labels = std::move(loaded.labels);
  ready.distribute_seconds = watch.lap();
  return ready;
}

template <class Real>
void warn_of_ratings(const ReadyRatings<Real>& ready, const Args& args, const Console& console) {
  const auto warn_of_repeated = [&](const std::string& path, Index count) {
    if (count > 0)
      console.warn(
          fmt::format("{}: {} repeated by a later line, and dropped", path, counted_were(count, "rating")));
  };
  warn_of_repeated(args.input.path, ready.num_duplicates);
  warn_of_repeated(args.test, ready.num_test_duplicates);
  if (!args.test.empty() && ready.x.num_test == 0)
    console.warn(fmt::format("--test {}: there is nothing to test on", args.test));
  if (ready.num_unknown > 0)
    console.warn(fmt::format("{}: {} left out, of users or items that the training ratings do not have",
                             args.test, counted_were(ready.num_unknown, "rating")));
}

// What the library's results do not know of.
template <class Real>
void describe_input(const Comm& comm, const Args& args, const ReadyRatings<Real>& ready, CompletionRun& run) {
  run.load_seconds = ready.load_seconds;
  run.distribute_seconds = ready.distribute_seconds;
  run.num_duplicates = ready.num_duplicates;
  run.num_test_duplicates = ready.num_test_duplicates;
  run.num_unknown = ready.num_unknown;
  run.weighed = ready.dealt.weighed;
  if (comm.size() > 1) run.partition = partition_file_of(args.partition).empty() ? args.partition : "file";
  run.test = args.test.empty() ? "none" : args.test;
}

template <class Real>
void run_with(const Comm& comm, const Args& args) {
  auto options = parse_training(args);
  const auto test = parse_test(args.test, options.seed);
  Console console(comm, args.common, file_plan(args, test));
  const auto machine = tasks::load_machine(comm);
  auto ready = make_ready<Real>(comm, args, options, test, machine.model, console);
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
  auto run = describe_completion(ready.x, ready.dealt.by, options, result, machine.model);
  run.train_seconds = watch.seconds();
  run.machine = machine.source;
  describe_input(comm, args, ready, run);
  auto examples = finish(comm, args, ready, options, result, run, console);
  run.peak_memory_bytes = comm.all_reduce(peak_memory_bytes(), Reduce::max);
  if (!args.memory.empty())
    tasks::warn_of_memory(console.context(), run.peak_memory_bytes, parse_bytes(args.memory, "--memory"));
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

}  // namespace

void add_complete(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand("complete", "Learn a recommender from ratings of items by users");
  add_completion_options(*command, *args);
  command->footer("Example: polyad complete ratings.dat -r 16 --test 0.1 --out model");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
