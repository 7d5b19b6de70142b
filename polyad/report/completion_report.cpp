#include "polyad/report/completion_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "polyad/base/parallel.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/report/html/page_parts.hpp"
#include "polyad/report/ranking_report.hpp"
#include "polyad/report/search_report.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

std::string stop_text(CompletionStop stop, bool has_validation) {
  switch (stop) {
    case CompletionStop::epochs:
      return "epochs";
    case CompletionStop::test_error:
      return has_validation ? "validation error" : "test error";
    case CompletionStop::settled:
      return "converged";
    case CompletionStop::observer:
      return "stopped";
    case CompletionStop::interrupted:
      return "interrupted";
    case CompletionStop::time_limit:
      return "time limit";
  }
  return "";
}

std::string stop_text(const CompletionRun& run) {
  return stop_text(run.stop, run.validation_errors.has_value());
}

// The same for people, behind the number of epochs.
std::string why_ended(CompletionStop stop, bool has_validation) {
  return stop == CompletionStop::epochs ? "the limit" : stop_text(stop, has_validation);
}

// Where it was not the processor that trained.
std::string on_gpu(const std::string& device) {
  return device == "cpu" ? "" : ", " + device;
}

nlohmann::ordered_json lists_json(const ListTraining& lists) {
  return {{"alpha", lists.alpha},
          {"power", lists.power},
          {"popularity", lists.popularity},
          {"neighbours", lists.neighbours},
          {"regularisation", lists.shrinkage.per_rating},
          {"item_regularisation", lists.shrinkage.for_items().per_rating},
          {"shrinkage", lists.shrinkage.per_row},
          {"sweeps", lists.sweeps},
          {"stop", stop_text(lists.stop, false)},
          {"device", lists.device}};
}

nlohmann::ordered_json list_trials_json(const std::vector<ListTrial>& trials) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& trial : trials)
    json.push_back({{"regularisation", trial.shrinkage.per_rating},
                    {"item_regularisation", trial.shrinkage.for_items().per_rating},
                    {"popularity", trial.popularity},
                    {"neighbours", trial.neighbours},
                    {"ndcg", trial.ndcg},
                    {"chosen", trial.is_chosen}});
  return json;
}

// Requires trials, of which the first has the usual settings.
std::string list_choice_text(const std::vector<ListTrial>& trials) {
  const auto chosen = std::ranges::find_if(trials, &ListTrial::is_chosen);
  return fmt::format(
      "\nsettings of lists, of {} tried on a tenth of the training ratings: regularisation {:g} of users and "
      "{:g} "
      "of items, weight of popularity {:g}, of similar items {:g} (NDCG {:.4f}{})",
      trials.size(), chosen->shrinkage.per_rating, chosen->shrinkage.for_items().per_rating,
      chosen->popularity, chosen->neighbours, chosen->ndcg,
      chosen == trials.begin() ? "" : fmt::format("; usual settings {:.4f}", trials.front().ndcg));
}

nlohmann::ordered_json epochs_json(const std::vector<EpochRecord>& epochs) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& record : epochs) {
    nlohmann::ordered_json one;
    one["epoch"] = record.epoch;
    if (record.step > 0) {
      one["step"] = record.step;
      one["undone"] = record.was_undone;
      one["began_anew"] = record.began_anew;
    } else {
      one["loss"] = record.loss;
    }
    // An epoch that was undone may have met errors that are no numbers.
    if (!record.was_undone && !std::isnan(record.train.rmse)) {
      one["train_rmse"] = record.train.rmse;
      one["train_mae"] = record.train.mae;
    }
    if (record.test) {
      one[record.validates ? "validation_rmse" : "test_rmse"] = record.test->rmse;
      one[record.validates ? "validation_mae" : "test_mae"] = record.test->mae;
    }
    one["seconds"] = record.seconds;
    json.push_back(one);
  }
  return json;
}

// One number per epoch that counts: the validation error, or the test error, or that of training.
std::vector<double> rmse_per_epoch(const std::vector<EpochRecord>& epochs) {
  std::vector<double> all;
  for (const auto& record : epochs)
    if (!record.was_undone) all.push_back(record.test ? record.test->rmse : record.train.rmse);
  return all;
}

nlohmann::ordered_json seconds_json(const CompletionRun& run) {
  nlohmann::ordered_json json;
  json["load"] = run.load_seconds;
  json["distribute"] = run.distribute_seconds;
  json["train"] = run.train_seconds;
  json["per_epoch"] = run.epochs_here() == 0 ? 0.0 : run.train_seconds / run.epochs_here();
  if (run.lists) json["lists"] = run.lists->seconds;
  json["output"] = run.output_seconds;
  json["processes"] = nlohmann::ordered_json::array();
  for (const auto& process : run.process_seconds)
    json["processes"].push_back({{"compute", process.learn},
                                 {"communicate", process.communicate},
                                 {"wait", process.wait},
                                 {"evaluate", process.evaluate}});
  return json;
}

nlohmann::ordered_json side_seconds_json(const std::optional<SideSeconds>& side_seconds) {
  if (!side_seconds) return nullptr;
  return {{"users", side_seconds->users}, {"items", side_seconds->items}};
}

nlohmann::ordered_json communication_json(const CompletionRun& run) {
  nlohmann::ordered_json json;
  json["words_per_row"] = run.words_per_row;
  json["messages_per_epoch"] = run.messages;
  json["predicted_messages_per_epoch"] = run.predicted.messages;
  json["max_volume_words"] = run.predicted.max_volume_rows * run.words_per_row;
  json["max_messages"] = run.predicted.max_messages;
  json["evaluation_words"] = run.evaluation_words;
  return json;
}

void add_rotation(nlohmann::ordered_json& json, const CompletionRun& run) {
  json["by"] = to_string(run.by) + "s";
  json["weighed"] = side_seconds_json(run.side_seconds);
  json["partition"] = run.partition;
  json["random_owners"] = run.has_random_owners;
  json["sync"] = run.num_sub_epochs;
  json["lambda_max"] = run.predicted.max_connectivity;
  json["rows_by_lambda"] = run.rows_by_connectivity;
  json["progress"] = run.predicted.progress;
  json["staleness_words_per_epoch"] = run.staleness_words();
}

std::string communication_text(const CompletionRun& run) {
  if (run.parts() == 1) return "";
  if (run.is_als)
    return fmt::format(
        "{} processes, users and items distributed at random; per sweep: {} (predicted {}), {}\n",
        run.processes, counted(run.volume_words, "word"), with_commas(run.predicted_volume_words),
        counted(run.messages, "message"));
  return fmt::format(
      "{} {}processes, {}s distributed by {}; {} ({} for no staleness)\n"
      "per epoch: {} (predicted {}), {} (predicted {}), staleness {}; "
      "the busiest process has {:.2f} times the mean work\n",
      run.parts(), run.parts() > run.processes ? "virtual " : "", to_string(run.by), run.partition,
      counted(run.num_sub_epochs, "sub-epoch"), run.predicted.max_connectivity,
      counted(run.volume_words, "word"), with_commas(run.predicted_volume_words),
      counted(run.messages, "message"), with_commas(run.predicted.messages),
      counted(run.staleness_words(), "word"), run.predicted.schedule_ratio());
}

}  // namespace

std::string method_text(const CompletionRun& run) {
  if (!run.is_als) return to_string(run.options.step.kind);
  const std::string steps =
      run.cg_steps > 0 ? fmt::format(", {} of conjugate gradients", counted(run.cg_steps, "step")) : "";
  if (run.alpha) return fmt::format("implicit feedback with alpha {:.4g}", *run.alpha) + steps;
  return "alternating least squares" + steps;
}

std::string side_seconds_text(const CompletionRun& run) {
  const auto& [users, items] = *run.side_seconds;
  const bool by_users = run.by == RatingSide::user;
  return fmt::format("{} per epoch with {}s distributed, {} with {}s", seconds_text(by_users ? users : items),
                     to_string(run.by), seconds_text(by_users ? items : users), to_string(run.travelling()));
}

int CompletionRun::epochs_undone() const {
  return int(std::ranges::count_if(epochs, &EpochRecord::was_undone));
}

const char* CompletionRun::chosen_by() const {
  if (options.patience == 0) return "last";
  return validation_errors ? "validation" : test_errors ? "test" : "last";
}

double CompletionRun::ratings_per_second() const {
  double slowest = 0;
  for (const auto& process : process_seconds)
    slowest = std::max(slowest, process.learn + process.communicate + process.wait);
  return slowest > 0 ? double(num_ratings) * epochs_here() / slowest : 0;
}

namespace {

// What the results of both methods have.
template <class Real, class Result>
void describe_result(const Comm& comm, const Result& result, CompletionRun& run) {
  run.precision = sizeof(Real) == sizeof(float) ? "single" : "double";
  run.processes = comm.size();
  run.threads = num_threads();
  run.epochs = result.epochs;
  run.num_restored = int(result.num_restored);
  run.best_epoch = result.best_epoch;
  run.stop = result.stop;
  run.train = result.train;
  run.test_errors = result.test;
  run.process_seconds = comm.all_gather(result.seconds);
}

}  // namespace

template <class Real>
CompletionRun describe_completion(const Comm& comm, const SplitRatings& own, const CompletionOptions& options,
                                  const AlsCompletionResult<Real>& result, std::optional<double> alpha) {
  CompletionRun run;
  run.is_als = true;
  run.alpha = alpha;
  run.num_users = own.train.extent(0);
  run.num_items = own.train.extent(1);
  run.num_ratings = comm.all_reduce(own.train.num_nonzeros());
  run.num_test = comm.all_reduce(own.test.num_nonzeros());
  run.mean = result.mean;
  run.deviation = result.deviation;
  run.options = options;
  run.volume_words = result.communication.volume_words;
  run.predicted_volume_words = result.communication.predicted_volume_words;
  run.messages = result.communication.messages;
  if (comm.size() > 1) run.partition = "random";
  describe_result<Real>(comm, result, run);
  return run;
}

template <class Real>
CompletionRun describe_completion(const DistRatings<Real>& x, RatingSide by, const CompletionOptions& options,
                                  const CompletionResult<Real>& result, const MachineModel& machine) {
  CompletionRun run;
  run.by = by;
  run.num_users = by == RatingSide::user ? x.num_users : x.num_items;
  run.num_items = by == RatingSide::user ? x.num_items : x.num_users;
  run.num_ratings = x.num_ratings;
  run.num_test = x.num_test;
  run.mean = x.mean;
  run.deviation = x.deviation;
  run.options = options;
  describe_result<Real>(x.comm, result, run);
  if (x.places.num_parts > run.processes) run.virtual_processes = x.places.num_parts;
  run.num_sub_epochs = x.rotation.num_sub_epochs;
  run.words_per_row = travelling_words(options).per_row();
  run.predicted = costs_of(x.rotation, {options.num_factors, run.words_per_row, sizeof(Real)}, machine);
  run.predicted_volume_words =
      rotation_volume(x.rotation.columns, x.rotation.num_sub_epochs) * run.words_per_row;
  run.rows_by_connectivity = x.rotation.columns.connectivities();
  const auto epochs = std::max(1, run.epochs_here());
  run.volume_words = x.comm.all_reduce(result.training.words) / epochs;
  run.messages = x.comm.all_reduce(result.training.messages) / epochs;
  run.evaluation_words = x.comm.all_reduce(result.evaluation.words);
  return run;
}

std::vector<SyncWords> words_over_sub_epochs(const CompletionRun& run) {
  const auto& items = run.rows_by_connectivity;
  const Index last = std::max({Index(1), Index(run.num_sub_epochs), std::ssize(items) - 1});
  std::vector<SyncWords> all(std::size_t(last), SyncWords{});
  for (Index eta = 1; eta <= last; ++eta)
    for (Index k = 0; k < std::ssize(items); ++k) {
      all[eta - 1].volume += items[k] * rotation_volume(k, eta) * run.words_per_row;
      all[eta - 1].staleness += items[k] * rotation_staleness(k, eta) * run.words_per_row;
    }
  return all;
}

nlohmann::ordered_json completion_json(const CompletionRun& run) {
  nlohmann::ordered_json json;
  if (run.test_errors) {
    json["test_rmse"] = run.test_errors->rmse;
    json["test_mae"] = run.test_errors->mae;
  }
  if (run.validation_errors) {
    json["validation_rmse"] = run.validation_errors->rmse;
    json["validation_mae"] = run.validation_errors->mae;
  }
  if (run.baselines)
    json["baselines"] = {{"mean", run.baselines->mean},
                         {"user_means", run.baselines->user_means},
                         {"item_means", run.baselines->item_means},
                         {"biases", run.baselines->biases}};
  if (!run.alpha) {
    json["train_rmse"] = run.train.rmse;
    json["train_mae"] = run.train.mae;
    json["rmse_per_epoch"] = rmse_per_epoch(run.epochs);
  }
  json["epochs"] = run.epochs_run() - run.epochs_undone();
  json["undone"] = run.epochs_undone();
  json["best_epoch"] = run.best_epoch;
  json["epoch_chosen_by"] = run.chosen_by();
  json["stop"] = stop_text(run);
  if (run.checkpoint) json["checkpoint"] = checkpoint_json(*run.checkpoint);
  json["per_epoch"] = epochs_json(run.epochs);
  json["users"] = run.num_users;
  json["items"] = run.num_items;
  json["ratings"] = run.num_ratings;
  json["test_ratings"] = run.num_test;
  json["test"] = run.test;
  json["validation_ratings"] = run.num_validation;
  json["validate"] = run.validate;
  json["duplicates"] = run.num_duplicates;
  json["test_duplicates"] = run.num_test_duplicates;
  json["unknown"] = run.num_unknown;
  json["mean"] = run.mean;
  json["deviation"] = run.deviation;
  json["rank"] = run.options.num_factors;
  json["biases"] = run.options.has_biases;
  json["method"] = run.alpha ? "implicit" : run.is_als ? "als" : "sgd";
  if (run.alpha) {
    json["alpha"] = *run.alpha;
    json["popularity"] = run.popularity;
    json["neighbours"] = run.neighbours;
    json["item_regularisation"] = run.options.shrinkage.for_items().per_rating;
  }
  if (run.is_als) json["solver"] = run.cg_steps > 0 ? "cg" : "cholesky";
  if (run.cg_steps > 0) json["cg_steps"] = run.cg_steps;
  if (!run.is_als) {
    json["schedule"] = to_string(run.options.step.kind);
    json["learning_rate"] = run.options.step.size;
  }
  json["regularisation"] = run.options.shrinkage.per_rating;
  if (!run.is_als) json["explicit_update"] = run.options.is_explicit;
  json["shrinkage"] = run.options.shrinkage.per_row;
  json["seed"] = run.options.seed;
  json["precision"] = run.precision;
  json["processes"] = run.processes;
  json["virtual_processes"] = run.parts() > run.processes ? nlohmann::ordered_json(run.parts()) : nullptr;
  json["threads"] = run.threads;
  json["device"] = run.device;
  if (!run.is_als) add_rotation(json, run);
  json["volume_words_per_epoch"] = run.volume_words;
  json["predicted_volume_words_per_epoch"] = run.predicted_volume_words;
  if (!run.is_als) {
    json["communication"] = communication_json(run);
    json["schedule_ratio"] = run.predicted.schedule_ratio();
    json["predicted_seconds_per_epoch"] = run.predicted.predicted_seconds;
    json["machine"] = run.machine;
  }
  json["lists"] = run.alpha || run.lists ? "ranking" : "ratings";
  if (run.lists) json["list_model"] = lists_json(*run.lists);
  if (!run.list_trials.empty()) json["list_trials"] = list_trials_json(run.list_trials);
  if (run.ranking) json["ranking"] = ranking_json(*run.ranking);
  if (!run.search.empty()) json["search"] = search_json(run.search);
  json["ratings_per_second"] = run.ratings_per_second();
  json["seconds"] = seconds_json(run);
  json["peak_memory_bytes"] = run.peak_memory_bytes;
  return json;
}

std::string epoch_text(const EpochRecord& record) {
  if (record.was_undone)
    return fmt::format(
        "epoch {:3}: the errors grew without bound with step {:.3g}; undone, and the step halved{}",
        record.epoch, record.step, record.began_anew ? "; training starts again" : "");
  if (std::isnan(record.train.rmse))
    return fmt::format("sweep {:3}: loss {:.6g}, {:.3f} s", record.epoch, record.loss, record.seconds);
  auto text = fmt::format("epoch {:3}: train RMSE {:.5g}", record.epoch, record.train.rmse);
  if (record.test)
    text += fmt::format(", {} RMSE {:.5g}, MAE {:.5g}", record.validates ? "validation" : "test",
                        record.test->rmse, record.test->mae);
  return text + fmt::format(", {:.3f} s", record.seconds);
}

std::string completion_text(const CompletionRun& run) {
  auto text = fmt::format("{}, {}, {}", counted(run.num_users, "user"), counted(run.num_items, "item"),
                          counted(run.num_ratings, "rating"));
  if (!run.alpha)
    text += run.options.has_biases
                ? fmt::format(" of mean {:.4g} and deviation {:.4g}", run.mean, run.deviation)
                : fmt::format(" with a root mean square of {:.4g}", run.deviation);
  text += "\n";
  text += communication_text(run);
  if (run.side_seconds) text += "predicted: " + side_seconds_text(run) + "\n";
  text += fmt::format("{}{}, {}, {} ({}), {}ratings/s{}\n", counted(run.options.num_factors, "factor"),
                      run.options.has_biases ? " and biases" : "", method_text(run),
                      counted(run.epochs_run() - run.epochs_undone(), run.is_als ? "sweep" : "epoch"),
                      why_ended(run.stop, run.validation_errors.has_value()),
                      with_prefix(run.ratings_per_second(), ""), on_gpu(run.device));
  text += run.alpha ? fmt::format("loss {:.6g}", run.epochs.empty() ? 0.0 : run.epochs.back().loss)
                    : fmt::format("train RMSE {:.5g}, MAE {:.5g}", run.train.rmse, run.train.mae);
  if (run.validation_errors)
    text += fmt::format("; validation RMSE {:.5g}, MAE {:.5g} (epoch {}, {})", run.validation_errors->rmse,
                        run.validation_errors->mae, run.best_epoch, counted(run.num_validation, "rating"));
  if (run.test_errors)
    text +=
        fmt::format("; test RMSE {:.5g}, MAE {:.5g} ({}{}{})", run.test_errors->rmse, run.test_errors->mae,
                    run.validation_errors ? "" : fmt::format("epoch {}, ", run.best_epoch),
                    counted(run.num_test, "rating"),
                    run.chosen_by() == std::string_view("test") ? ", which chose the epoch" : "");
  if (run.baselines)
    text += fmt::format(
        "\ntest RMSE without factors: mean {:.5g}, user means {:.5g}, item means {:.5g}, biases {:.5g}",
        run.baselines->mean, run.baselines->user_means, run.baselines->item_means, run.baselines->biases);
  if (run.lists)
    text += fmt::format("\nlists by a model of their own: {} ({}), {}{}", counted(run.lists->sweeps, "sweep"),
                        why_ended(run.lists->stop, false), seconds_text(run.lists->seconds),
                        on_gpu(run.lists->device));
  if (!run.list_trials.empty()) text += list_choice_text(run.list_trials);
  if (run.ranking) text += "\n" + ranking_text(*run.ranking);
  if (!run.search.empty()) text += "\n" + search_text(run.search);
  return text;
}

template CompletionRun describe_completion(const Comm&, const SplitRatings&, const CompletionOptions&,
                                           const AlsCompletionResult<float>&, std::optional<double>);
template CompletionRun describe_completion(const Comm&, const SplitRatings&, const CompletionOptions&,
                                           const AlsCompletionResult<double>&, std::optional<double>);
template CompletionRun describe_completion(const DistRatings<float>&, RatingSide, const CompletionOptions&,
                                           const CompletionResult<float>&, const MachineModel&);
template CompletionRun describe_completion(const DistRatings<double>&, RatingSide, const CompletionOptions&,
                                           const CompletionResult<double>&, const MachineModel&);

}  // namespace polyad::report
