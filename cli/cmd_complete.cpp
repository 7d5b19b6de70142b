#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/unfinished_paths.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct CompleteArgs {
  CommonOptions common;
  InputOptions input;
  CompleteOptions complete;
  int folds = 0;
  std::vector<std::string> search;
  std::string method = "sgd", solver = "auto", schedule = "adagrad", sync = "auto", by = "auto",
              partition = "random", test, validate, precision = "single", lists = "auto", out, page, memory,
              resume, cache, device = "auto";
  CheckpointTexts checkpoint;
};

CompleteOptions parse(const CompleteArgs& args, int processes) {
  auto options = args.complete;
  options.schedule = named(args.schedule, all_step_schedules());
  options.method = args.method == "als" ? CompletionMethod::als : CompletionMethod::sgd;
  for (const auto solver : {RowSolver::cholesky, RowSolver::cg})
    if (args.solver == to_string(solver)) options.solver = solver;
  options.precision = args.precision == "single" ? Precision::float32 : Precision::float64;
  options.device = parse_device(args.device, "--device");
  options.lists = parse_lists(args.lists);
  options.test = parse_test(args.test, load_options(args.input));
  options.validate = parse_test(args.validate, load_options(args.input));
  const bool is_tested = !args.test.empty() || args.folds > 0 || !args.search.empty();
  if (!args.search.empty()) parse_search(args.search, options);  // before files are read
  if (!is_tested && (options.ranking != CompleteOptions{}.ranking || options.relevant))
    throw Error(Errc::bad_option,
                fmt::format("{} requires --test or --folds", options.relevant ? "--relevant" : "--ranking"));
  if (!is_tested && args.validate.empty() && !options.implicit &&
      options.patience != CompleteOptions{}.patience)
    throw Error(Errc::bad_option, "--patience requires --test or --validate");
  options.sync = parse_sync(args.sync, std::max(processes, options.virtual_processes));
  options.by = parse_distributed_side(args.by);
  options.partition = parse_rating_partition(args.partition);
  if (options.partition == RatingPartition::file) options.partition_file = args.partition;
  options.cache = args.cache;
  options.resume = args.resume;
  if (!args.memory.empty()) options.max_memory_bytes = parse_bytes(args.memory, "--memory");
  parse_checkpoints(args.checkpoint, options);
  options.will_save = !args.out.empty();
  options.will_report = !args.page.empty();
  auto for_training = options;
  if (!args.search.empty() && options.implicit) for_training.validate = {};  // it compares the trials
  validate(for_training);
  return options;
}

FilePlan file_plan(const CompleteArgs& args, const CompleteOptions& options) {
  auto plan = plan_input(args.input);
  if (!options.test.file.empty()) plan.reads_tensor("the file that --test names", options.test.file);
  if (!options.validate.file.empty())
    plan.reads_tensor("the file that --validate names", options.validate.file);
  plan.reads_in_place_of("--partition", options.partition_file, rating_partition_words());
  plan.reads_machine_constants().reads_cached_partitions(args.cache);
  plan.goes_on_from("the model to go on from", args.resume);
  plan.writes_checkpoints("--checkpoint", args.checkpoint.directory);
  return plan.writes_rating_model("--out", args.out).writes("--report", args.page);
}

CompletionModel train(const Console& console, Tensor ratings, const CompleteOptions& options,
                      const CompleteArgs& args) {
  const auto& context = console.context();
  if (args.search.empty()) return complete(context, std::move(ratings), options);
  const auto say = [&](const SearchTrial& trial) { console.say(to_text(trial)); };
  return search_complete(context, std::move(ratings), options, parse_search(args.search, options), say).model;
}

void run(const Comm& comm, const CompleteArgs& args) {
  auto options = parse(args, comm.size());
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args, options); }));
  const auto& context = console.context();
  if (options.checkpoint) save_on_signals();
  options.observer = [&](const EpochRecord& record) {
    if (!record.was_undone && args.folds == 0)
      console.say(to_text(record));  // the library warns of the others
    return true;
  };
  auto ratings = load_ratings(context, tensor_files(args.input), load_options(args.input));
  if (args.folds > 0) {
    const auto found = cross_validate(context, std::move(ratings), options, args.folds);
    console.say(found.summary());
    return console.result(found.json());
  }
  if (!args.out.empty()) check_output(context, ratings, options, args.out);
  const auto model = train(console, std::move(ratings), options, args);
  if (!args.out.empty()) {
    save(context, model, args.out);
    console.say("wrote model to " + args.out + "/");
  }
  if (!args.page.empty()) save_report(context, model, args.page);
  warn_of_memory(context, model.peak_memory_bytes(), options.max_memory_bytes);
  console.say(model.summary());
  if (!args.page.empty()) console.say("wrote report to " + args.page);
  console.result(model.json());
  require_finished(model);
}

void add_training_options(CLI::App& command, CompleteArgs& args) {
  auto& complete = args.complete;
  command.add_option("-r,--rank", complete.factors, "Number of factors per user and item")
      ->capture_default_str()
      ->check(in_range<Index>(1, max_factors));
  command.add_option("-e,--epochs", complete.max_epochs, "Maximum number of epochs")
      ->capture_default_str()
      ->check(in_range(0, std::numeric_limits<int>::max()));
  command
      .add_option("--method", args.method,
                  "sgd: stochastic gradient descent; als: alternating least squares, the same on any number "
                  "of processes")
      ->capture_default_str()
      ->check(CLI::IsMember({"sgd", "als"}));
  command.add_flag("--implicit", complete.implicit,
                   "Learn which items users prefer from what they chose, such as clicks or "
                   "counts, for lists and not for ratings");
  command
      .add_option("--alpha", complete.alpha,
                  "In lists: a rating of value x counts 1 + alpha * |x| / (mean of |x|) times, another cell "
                  "once; without "
                  "--implicit by the cubes of ratings")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(from_zero());
  command
      .add_option(
          "--solver", args.solver,
          fmt::format("With --method als and --implicit, how a row is improved: cholesky, exactly; cg, by "
                      "conjugate gradients, which is faster for many factors; auto: cg from {} factors on, "
                      "without --device gpu",
                      CompleteOptions::cg_from_factors))
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "cholesky", "cg"}));
  command
      .add_option("--cg-steps", complete.cg_steps,
                  "Steps of conjugate gradients per row and epoch (default 3); requires --solver cg")
      ->check(in_range(1, std::numeric_limits<int>::max()));
  command
      .add_option(
          "--popularity", complete.popularity,
          "In lists: what is added to the score of an item, times the share of the users that rated it "
          "positively (default: chosen with the regularisation on held-out training ratings, of few ratings "
          "0.25)")
      ->check(fault_of_real)
      ->check(from_zero());
  command
      .add_option(
          "--neighbours", complete.neighbours,
          "Weight in lists of how similar an item is to those that the user rated positively; items are "
          "similar if the same users rated them so (default: compared on held-out ratings, as "
          "--popularity is, else 0)")
      ->check(fault_of_real)
      ->check(from_zero());
  add_lists_option(
      command, args.lists,
      "Rank items by a second model, trained for lists (ranking), or by predicted rating; auto: ranking");
  command.add_option("--schedule", args.schedule, "How the learning rate changes")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(all_step_schedules())));
  command
      .add_option("--lr", complete.learning_rate,
                  "First learning rate, for ratings of standard deviation 1 (default 0.05 for adagrad, 0.03 "
                  "for the other schedules)")
      ->check(fault_of_real)
      ->check(above_zero());
  command
      .add_option("--decay", complete.decay,
                  "Learning rate of epoch e, counted from 0: lr / (1 + decay * e) (default 0.1); requires "
                  "--schedule inverse")
      ->check(fault_of_real)
      ->check(from_zero());
  command
      .add_option("--reg", complete.regularisation,
                  "L2 regularisation of factors, per rating, for ratings of standard deviation 1 (default "
                  "0.05, with --implicit 0.2)")
      ->check(fault_of_real)
      ->check(from_zero());
  command
      .add_option(
          "--shrink", complete.shrinkage,
          "Shrink users and items with few ratings towards the mean, as this number of ratings at the "
          "mean would (default 2, with --implicit 20)")
      ->check(fault_of_real)
      ->check(from_zero());
  command.add_flag("--explicit-update", complete.explicit_update,
                   "Steps as published: the regularisation acts where they begin, not where they end");
  command.add_flag("--no-bias", complete.no_bias, "Factors only: no mean, no biases of users and items");
  add_seed_option(command, complete.seed, "Seed of the start, of --test and of --partition random");
  command
      .add_option("--precision", args.precision,
                  "Floating-point precision of factors and biases: single or double")
      ->capture_default_str()
      ->check(CLI::IsMember({"single", "double"}));
  command
      .add_option(
          "--device", args.device,
          "What computes with --method als and --implicit, and the model for lists: auto (a GPU where "
          "it can, for many ratings), cpu, gpu, or gpu:1")
      ->capture_default_str();
}

void add_test_options(CLI::App& command, CompleteArgs& args) {
  auto* test =
      command.add_option("--test", args.test,
                         "Ratings to test on: a file, a fraction of the ratings as in 0.1, or leave-one-out");
  command.add_option(
      "--validate", args.validate,
      "Ratings that choose the epoch, so that the test ratings do not: a file, a fraction of the "
      "others as in 0.1, or leave-one-out");
  command
      .add_option(
          "--patience", args.complete.patience,
          "Stop after this number of epochs in which the error on --validate, or else on --test, did not "
          "fall by 0.01 %, and keep the epoch with the lowest (0: train all epochs and keep the last)")
      ->capture_default_str()
      ->check(in_range(0, std::numeric_limits<int>::max()));
  command
      .add_option("--ranking", args.complete.ranking,
                  "Measure the quality of this number of recommendations per user (0: do not); requires "
                  "--test or --folds")
      ->capture_default_str()
      ->check(in_range(0, 10000));
  command
      .add_option(
          "--folds", args.folds,
          "Train this number of models, each tested on another part of the ratings, and show the mean and "
          "the deviation of their errors; no model is kept")
      ->excludes(test)
      ->check(in_range(2, max_folds));
  command
      .add_option(
          "--search", args.search,
          "Try several values of rank, reg, lr or alpha, as in rank=8,16,32, on validation ratings and "
          "keep the best; auto: values around the given ones; repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--relevant", args.complete.relevant,
                  "With --ranking: test ratings of at least this are relevant (default: the mean of the "
                  "training ratings)")
      ->check(fault_of_real);
}

void add_process_options(CLI::App& command, CompleteArgs& args) {
  command
      .add_option("--sync", args.sync,
                  "Sub-epochs per epoch, after each of which processes synchronise: auto, max (no row is "
                  "stale), or a number")
      ->capture_default_str();
  command
      .add_option("--virtual", args.complete.virtual_processes,
                  "Train as this number of processes would, on fewer: the same result (default: none)")
      ->check(in_range(1, max_virtual_processes));
  command.add_flag("--random-owners", args.complete.random_owners,
                   "As published, any of the processes that share a row averages it (default: the one that "
                   "receives the least)");
  command
      .add_option("--by", args.by,
                  "What is distributed over processes: users, items, or auto, which takes the one that is "
                  "predicted to be faster")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "users", "items"}));
  command
      .add_option("--partition", args.partition,
                  "Which process gets which users or items: random, block, hypergraph, or a file with a part "
                  "for each user (with --by items: for each item)")
      ->capture_default_str();
  add_cache_option(command, args.cache);
  add_memory_option(command, args.memory,
                    "Maximum memory per process, as in 800MB; a run that would need more is refused");
}

}  // namespace

void add_complete(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<CompleteArgs>();
  auto* command = app.add_subcommand("complete", "Learn a recommender from ratings of items by users");
  add_training_options(*command, *args);
  add_test_options(*command, *args);
  add_process_options(*command, *args);
  auto* folds = command->get_option("--folds");
  auto* resume =
      command->add_option("--resume", args->resume, "Continue training the model in this directory")
          ->excludes(folds);
  command->get_option("--search")->excludes(folds)->excludes(resume);
  add_checkpoint_options(*command, args->checkpoint);
  for (const char* name : {"--checkpoint", "--time-limit"})
    command->get_option(name)->excludes(folds)->excludes(command->get_option("--search"));
  command->add_option("--out", args->out, "Write the model to this directory, for recommend and predict")
      ->excludes(folds);
  command->add_option("--report", args->page, "Write an HTML report: one file, no network needed")
      ->excludes(folds);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad complete ratings.dat -r 16 --test 0.1 --out model");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
