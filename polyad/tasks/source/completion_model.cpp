#include "polyad/tasks/completion_model.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

Index num_rows(const CompletionModel::State& state, RatingSide side) {
  return side == RatingSide::user ? state.run.num_users : state.run.num_items;
}

Matrix<double> factors_of(CompletionModel::State& state, RatingSide side) {
  state.gather();
  auto rows = collectively(state.comm, [&] {
    if (state.comm.rank() == 0) return state.factors(side);
    return Matrix<double>(num_rows(state, side), state.run.options.num_factors);
  });
  state.comm.broadcast(std::span<double>(rows.flat()), 0);
  return rows;
}

std::vector<double> biases_of(CompletionModel::State& state, RatingSide side) {
  state.gather();
  auto biases = collectively(
      state.comm, [&] { return state.comm.rank() == 0 ? state.biases(side) : std::vector<double>(); });
  state.comm.broadcast(biases, 0);  // of implicit feedback, items have them and users have not
  return biases;
}

// What the files of a model say of the run that wrote it.
template <class Real>
report::CompletionRun run_of(const io::StoredRatingModel<Real>& stored) {
  report::CompletionRun run;
  run.num_users = stored.model.num_users();
  run.num_items = stored.model.num_items();
  run.num_ratings = stored.ratings.num_nonzeros();
  run.mean = stored.model.mean;
  run.options.num_factors = stored.model.num_factors();
  run.options.has_biases = stored.model.has_biases();
  run.options.shrinkage = stored.training.shrinkage;
  run.alpha = stored.training.alpha;
  if (const auto& lists = stored.training.lists) {
    run.lists.emplace();
    run.lists->alpha = lists->alpha;
    run.lists->shrinkage = lists->shrinkage;
  }
  run.best_epoch = int(stored.training.epochs);
  run.precision = sizeof(Real) == sizeof(float) ? "single" : "double";
  run.threads = num_threads();
  return run;
}

nlohmann::ordered_json stored_json(const report::CompletionRun& run) {
  return {{"best_epoch", run.best_epoch},
          {"users", run.num_users},
          {"items", run.num_items},
          {"ratings", run.num_ratings},
          {"mean", run.mean},
          {"rank", run.options.num_factors},
          {"biases", run.options.has_biases},
          {"regularisation", run.options.shrinkage.per_rating},
          {"shrinkage", run.options.shrinkage.per_row},
          {"lists", run.alpha || run.lists ? "ranking" : "ratings"},
          {"precision", run.precision}};
}

std::string stored_text(const report::CompletionRun& run) {
  return fmt::format("{}, {}, {}\n{}{}, {}", report::counted(run.num_users, "user"),
                     report::counted(run.num_items, "item"), report::counted(run.num_ratings, "rating"),
                     report::counted(run.options.num_factors, "factor"),
                     run.options.has_biases ? " and biases" : "", report::counted(run.best_epoch, "epoch"));
}

template <class Real>
CompletionModel load_in(const Comm& comm, const std::string& directory) {
  const Stopwatch watch;
  auto stored = collectively(comm, [&] { return io::read_rating_model<Real>(directory); });
  auto run = run_of(stored);
  const auto prepared = stored.training.prepared;
  auto labels = std::move(stored.labels);
  auto whole = std::make_shared<tasks::WholeModel<Real>>(tasks::WholeModel<Real>{
      std::move(stored.model), std::move(stored.training), std::move(stored.ratings)});
  auto state = std::make_shared<tasks::CompletionState<Real>>(comm, std::move(labels),
                                                              [whole] { return std::move(*whole); });
  state->input = directory;
  state->prepared = prepared;
  run.load_seconds = watch.seconds();
  run.processes = comm.size();
  state->run = std::move(run);
  state->note_memory();
  return CompletionModel(std::move(state));
}

}  // namespace

std::string to_string(ListsBy lists) {
  if (lists == ListsBy::automatic) return "auto";
  return lists == ListsBy::ranking ? "ranking" : "ratings";
}

Index CompletionModel::num_users() const {
  return state_->run.num_users;
}

Index CompletionModel::num_items() const {
  return state_->run.num_items;
}

Index CompletionModel::num_factors() const {
  return state_->run.options.num_factors;
}

Index CompletionModel::num_ratings() const {
  return state_->run.num_ratings;
}

bool CompletionModel::has_biases() const {
  return state_->run.options.has_biases;
}

bool CompletionModel::ranks_by_preference() const {
  return state_->run.alpha || state_->run.lists;
}

const std::vector<ModeLabels>& CompletionModel::labels() const {
  return state_->labels;
}

double CompletionModel::mean() const {
  return state_->run.mean;
}

Matrix<double> CompletionModel::user_factors() const {
  return factors_of(*state_, RatingSide::user);
}

Matrix<double> CompletionModel::item_factors() const {
  return factors_of(*state_, RatingSide::item);
}

std::vector<double> CompletionModel::user_biases() const {
  return biases_of(*state_, RatingSide::user);
}

std::vector<double> CompletionModel::item_biases() const {
  return biases_of(*state_, RatingSide::item);
}

const std::vector<EpochRecord>& CompletionModel::epochs() const {
  return state_->run.epochs;
}

int CompletionModel::best_epoch() const {
  return state_->run.best_epoch;
}

std::optional<CompletionStop> CompletionModel::stop_reason() const {
  return state_->is_trained ? std::optional(state_->run.stop) : std::nullopt;
}

ErrorFigures CompletionModel::train_errors() const {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  return state_->is_trained ? state_->run.train : ErrorFigures{unknown, unknown};
}

const std::optional<ErrorFigures>& CompletionModel::validation_errors() const {
  return state_->run.validation_errors;
}

const std::optional<ErrorFigures>& CompletionModel::test_errors() const {
  return state_->run.test_errors;
}

const std::optional<RankingMetrics>& CompletionModel::ranking() const {
  return state_->run.ranking;
}

std::string CompletionModel::summary() const {
  return state_->is_trained ? report::completion_text(state_->run) : stored_text(state_->run);
}

std::string CompletionModel::json() const {
  const auto json = state_->is_trained ? report::completion_json(state_->run) : stored_json(state_->run);
  return tasks::json_text(json);
}

Index CompletionModel::peak_memory_bytes() const {
  return state_->run.peak_memory_bytes;
}

CompletionModel load_completion_model(const Context& context, const std::filesystem::path& directory) {
  const tasks::TaskScope scope(context);
  const Comm& comm = context.comm();
  const auto path = directory.string();
  tasks::require_same_files(comm, {path});
  const bool is_single = collectively(comm, [&] { return io::is_single_rating_model(path); });
  return is_single ? load_in<float>(comm, path) : load_in<double>(comm, path);
}

}  // namespace polyad
