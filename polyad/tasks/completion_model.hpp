#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyad/algo/ratings/completion_progress.hpp"
#include "polyad/base/matrix.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/ratings/ranking_metrics.hpp"

namespace polyad {

// By which model items are ranked.
enum class ListsBy {
  automatic,  // ranking, where there is a model for it; complete() trains one
  // by a second model, which learns from the same ratings which items users prefer, as
  // CompleteOptions::implicit does; it has the same number of factors and no errors
  ranking,
  ratings  // by predicted rating
};
std::string to_string(ListsBy lists);

// A model of ratings. The predicted rating of an item by a user is
//   mean() + user_biases()[user] + item_biases()[item] + <user_factors().row(user),
//   item_factors().row(item)>.
// It also has the ratings that it was trained on, so that recommend() can leave out what a user has rated. On
// several processes each holds a share of the rows until process 0 gathers them, which save(), save_report(),
// recommend() and the factors need: they are collective. Copies share the same model.
class CompletionModel {
 public:
  struct State;  // private to the library
  explicit CompletionModel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  // Moving copies, so that a model can be used after it was moved from.
  CompletionModel(const CompletionModel&) = default;
  CompletionModel& operator=(const CompletionModel&) = default;
  ~CompletionModel() = default;

  Index num_users() const;
  Index num_items() const;
  Index num_factors() const;
  Index num_ratings() const;  // that the model was trained on
  bool has_biases() const;
  // Whether items are ranked by a model of its own, which ListsBy::ranking describes, or by that of implicit
  // feedback: not by predicted rating.
  bool ranks_by_preference() const;
  // Of users and of items: two entries, whose labels are empty where the ratings had none.
  const std::vector<ModeLabels>& labels() const;

  // The mean of the ratings; 0 in a model without biases.
  double mean() const;
  // A row for every user, or item; of zeros where it had no rating. All processes get all rows. Collective.
  Matrix<double> user_factors() const;
  Matrix<double> item_factors() const;
  // One number for every user, or item; empty in a model without biases. On all processes. Collective.
  std::vector<double> user_biases() const;
  std::vector<double> item_biases() const;

  // The epochs of training in order, with their errors; empty for a model that was read from files. An epoch
  // that was undone (EpochRecord::was_undone) is followed by another with the same number.
  const std::vector<EpochRecord>& epochs() const;
  // The epoch that the model is of: the one with the lowest error on validation ratings, or where there are
  // none on test ratings, or the last.
  int best_epoch() const;
  // Why training ended; nothing for a model that was read from files.
  std::optional<CompletionStop> stop_reason() const;
  // Of the model on all ratings that it was trained on (nan for a model from a file), and on the test ratings
  // if there are any.
  ErrorFigures train_errors() const;
  const std::optional<ErrorFigures>& test_errors() const;
  // On the validation ratings, where CompleteOptions::validate asked for them.
  const std::optional<ErrorFigures>& validation_errors() const;
  // Quality of its recommendations, measured on the test ratings; nothing if it was not measured.
  const std::optional<RankingMetrics>& ranking() const;

  // What was done and chosen, and the errors: text for people.
  std::string summary() const;
  // All figures of the run as one JSON object; docs/json.md describes its keys under `polyad complete`. For a
  // model that was read from files: the keys that these have values for.
  std::string json() const;
  // The most memory that a process had in use until now, in bytes.
  Index peak_memory_bytes() const;

  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

// Reads the directory that save() wrote for a model of ratings. Every process reads all of it. Throws
// Error{bad_input} when a file is missing or damaged. Collective.
CompletionModel load_completion_model(const Context& context, const std::filesystem::path& directory);

}  // namespace polyad
