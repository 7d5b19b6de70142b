#include <fmt/format.h>

#include <cmath>

#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/detail/choose_device.hpp"
#include "polyad/tasks/detail/ratings/list_model.hpp"
#include "polyad/tasks/detail/ratings/prepare_ratings.hpp"
#include "polyad/tasks/detail/task_checks.hpp"

namespace polyad {
namespace {

constexpr Index max_ranking = 10000;

using tasks::require_not_negative;

void check_schedule(const CompleteOptions& options) {
  if (options.learning_rate && !(*options.learning_rate > 0 && std::isfinite(*options.learning_rate)))
    tasks::refuse_option(
        fmt::format("{} {}: expected more than 0", option_name("learning_rate"), *options.learning_rate));
  if (!options.decay) return;
  if (options.schedule != StepSchedule::Kind::inverse)
    tasks::refuse_option(
        fmt::format("{} requires {} inverse", option_name("decay"), option_name("schedule")));
  require_not_negative("decay", *options.decay);
}

// `field`: test or validate.
void check_test(const TestRatings& test, const std::string& field) {
  if (test.kind == TestRatings::Kind::fraction && !(test.fraction > 0 && test.fraction < 1))
    tasks::refuse_option(
        fmt::format("{} {}: expected a share between 0 and 1, as in 0.1", option_name(field), test.fraction));
  if (test.kind != TestRatings::Kind::fraction && test.fraction != TestRatings{}.fraction)
    tasks::refuse_option(fmt::format("{} {} has no effect: {}.kind is not fraction",
                                     option_name(field + ".fraction"), test.fraction, field));
  if (test.kind != TestRatings::Kind::tensor && test.tensor.order() > 0)
    tasks::refuse_option(
        fmt::format("{} has no effect: {}.kind is not tensor", option_name(field + ".tensor"), field));
  if ((test.kind == TestRatings::Kind::file) == test.file.empty())
    tasks::refuse_option(fmt::format("{}: a file is named if and only if it holds the {} ratings",
                                     option_name(field), field == "test" ? "test" : "validation"));
}

void check_relevant(const CompleteOptions& options) {
  if (!options.relevant) return;
  if (!std::isfinite(*options.relevant))
    tasks::refuse_option(fmt::format("{} {}: expected a number", option_name("relevant"), *options.relevant));
  if (options.ranking == 0)
    tasks::refuse_option(fmt::format("{} has no effect: it requires {} of at least 1",
                                     option_name("relevant"), option_name("ranking")));
}

void check_partition(const CompleteOptions& options) {
  tasks::require_partition_file(options.partition == RatingPartition::file, options.partition_file);
  if (!options.cache.empty() && options.partition != RatingPartition::hypergraph)
    tasks::refuse_option(
        fmt::format("{} requires {} hypergraph", option_name("cache"), option_name("partition")));
}

void check_solver(const CompleteOptions& options) {
  tasks::require_enumerator("solver", options.solver, RowSolver::cg);
  if (options.solver != RowSolver::automatic && !tasks::uses_least_squares(options))
    tasks::refuse_option(fmt::format("{} requires {} als or {}", option_name("solver"), option_name("method"),
                                     option_name("implicit")));
  if (!options.cg_steps) return;
  if (options.solver != RowSolver::cg)
    tasks::refuse_option(fmt::format("{} requires {} cg", option_name("cg_steps"), option_name("solver")));
  if (*options.cg_steps < 1)
    tasks::refuse_option(
        fmt::format("{} {}: expected at least 1", option_name("cg_steps"), *options.cg_steps));
}

// With alternating least squares: what the options of gradient descent say has no effect, and is refused.
void check_least_squares(const CompleteOptions& options) {
  const CompleteOptions usual;
  const auto refuse = [&](bool is_given, const char* field) {
    if (is_given)
      tasks::refuse_option(fmt::format("{} requires {} sgd", option_name(field), option_name("method")));
  };
  refuse(options.schedule != usual.schedule, "schedule");
  refuse(options.learning_rate.has_value(), "learning_rate");
  refuse(options.decay.has_value(), "decay");
  refuse(options.sync != usual.sync, "sync");
  refuse(options.virtual_processes != usual.virtual_processes, "virtual_processes");
  refuse(options.random_owners != usual.random_owners, "random_owners");
  refuse(options.explicit_update != usual.explicit_update, "explicit_update");
  refuse(options.by != usual.by, "by");
  refuse(options.partition != usual.partition, "partition");
  if (!options.resume.empty())
    tasks::refuse_option(
        fmt::format("{} requires {} sgd: least squares settle within few epochs from any "
                    "start, so train again, on all ratings",
                    option_name("resume"), option_name("method")));
  if (options.implicit && options.validate.kind != TestRatings::Kind::none)
    tasks::refuse_option(fmt::format("{} has no errors that could choose an epoch: {} has no effect",
                                     option_name("implicit"), option_name("validate")));
  if (options.implicit && options.patience != usual.patience && options.patience != 0)
    tasks::refuse_option(fmt::format("{} has no errors that could end the training: {} has no effect",
                                     option_name("implicit"), option_name("patience")));
  if (options.implicit && options.no_bias)
    tasks::refuse_option(
        fmt::format("{} has no biases: {} has no effect", option_name("implicit"), option_name("no_bias")));
}

}  // namespace

std::string to_string(CompletionMethod method) {
  return method == CompletionMethod::als ? "als" : "sgd";
}

std::string to_string(RowSolver solver) {
  switch (solver) {
    case RowSolver::automatic:
      return "auto";
    case RowSolver::cholesky:
      return "cholesky";
    case RowSolver::cg:
      return "cg";
  }
  return "";
}

std::string to_string(RatingPartition partition) {
  switch (partition) {
    case RatingPartition::random:
      return "random";
    case RatingPartition::block:
      return "block";
    case RatingPartition::hypergraph:
      return "hypergraph";
    case RatingPartition::file:
      return "file";
  }
  return "";
}

void validate(const CompleteOptions& options) {
  if (options.factors < 1 || options.factors > max_factors)
    tasks::refuse_option(fmt::format("{} {}: expected a number from 1 to {}", option_name("factors"),
                                     options.factors, max_factors));
  require_not_negative("max_epochs", options.max_epochs);
  require_not_negative("regularisation", options.regularisation.value_or(0));
  require_not_negative("shrinkage", options.shrinkage.value_or(0));
  require_not_negative("patience", options.patience);
  if (options.ranking < 0 || options.ranking > max_ranking)
    tasks::refuse_option(fmt::format("{} {}: expected a number from 0 to {}", option_name("ranking"),
                                     options.ranking, max_ranking));
  check_relevant(options);
  tasks::require_memory_limit(options.max_memory_bytes);
  tasks::require_enumerator("precision", options.precision, Precision::float32);
  tasks::require_enumerator("schedule", options.schedule, StepSchedule::Kind::adagrad);
  tasks::require_enumerator("by", options.by, DistributedSide::items);
  tasks::require_enumerator("partition", options.partition, RatingPartition::file);
  tasks::require_enumerator("test.kind", options.test.kind, TestRatings::Kind::tensor);
  tasks::require_enumerator("validate.kind", options.validate.kind, TestRatings::Kind::tensor);
  tasks::require_enumerator("method", options.method, CompletionMethod::als);
  require_not_negative("alpha", options.alpha);
  check_solver(options);
  tasks::check_device(options);
  if (tasks::uses_least_squares(options)) check_least_squares(options);
  if (options.checkpoint && !options.resume.empty())
    tasks::refuse_option(
        fmt::format("{} and {} exclude each other: the model may be another one when the run goes on",
                    option_name("checkpoint"), option_name("resume")));
  tasks::check_lists(options);
  check_schedule(options);
  check_test(options.test, "test");
  check_test(options.validate, "validate");
  check_partition(options);
  if (options.checkpoint) validate(*options.checkpoint);
  require_not_negative("max_seconds", options.max_seconds);
}

}  // namespace polyad
