#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "polyad/algo/ratings/add_items.hpp"
#include "polyad/algo/ratings/recommend.hpp"
#include "polyad/base/setting.hpp"
#include "polyad/io/tensors/index_space.hpp"
#include "polyad/report/completion_report.hpp"
#include "polyad/report/example_users.hpp"
#include "polyad/report/recommendation_report.hpp"
#include "polyad/tasks/completion_model.hpp"

namespace polyad {

// What a model of ratings is: how the run went, and the rows, in whatever precision.
struct CompletionModel::State {
  State(Comm processes, std::vector<ModeLabels> mode_labels);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  virtual ~State() = default;

  // Brings the whole model, and its ratings, to process 0, once. The others hand over what they have.
  // Collective.
  virtual void gather() = 0;

  // What follows needs a gathered model, and is for process 0.
  virtual Matrix<double> factors(RatingSide side) const = 0;
  virtual std::vector<double> biases(RatingSide side) const = 0;
  virtual void write(const std::filesystem::path& directory) const = 0;
  virtual std::vector<report::ExampleUser> examples() const = 0;
  using AnyRecommender = std::variant<const Recommender<float>*, const Recommender<double>*>;
  // By the model for lists, if there is one, or by that of ratings.
  enum class Ranks { by_lists, by_ratings };
  virtual AnyRecommender recommender(Ranks ranks) = 0;
  virtual Shrinkage shrinkage(Ranks ranks) const = 0;  // of that model
  virtual const SparseTensor<double>& ratings() const = 0;
  virtual std::optional<RatingRange> range() const = 0;  // RatingTraining::range

  // The same model with further items; `items`: those with ratings, on process 0. `item_labels`: of all.
  // Collective.
  virtual std::shared_ptr<State> with_items(Index num_items, std::vector<std::string> item_labels,
                                            const std::vector<RatingsOfItem>& items) = 0;

  // The same model with other or further users; `users`: those that change, on process 0. `user_labels`: of
  // all. Collective.
  virtual std::shared_ptr<State> with_users(Index num_users, std::vector<std::string> user_labels,
                                            const std::vector<RatingsOfUser>& users) = 0;
  // All of the model on this process, which needs no others for the copy. Collective.
  virtual std::shared_ptr<State> on_every_process() = 0;

  // To find users and items by name.
  const io::IndexSpace& names();

  // Of all processes. Collective.
  void note_memory();

  Comm comm;
  std::vector<ModeLabels> labels;  // of users and of items; named, also where they are empty
  std::string input;               // the path of the ratings, or of the model that was read
  std::vector<Setting> settings;   // of the run that trained it
  // Where recommendations are those of a decomposition: of what.
  std::optional<report::RecommendationSource> source;
  bool is_trained = false;  // else it was read, and `run` has only what the files say
  report::CompletionRun run;
  ValuePreparation prepared = RatingTraining<double>::usual_preparation();  // of the ratings

 private:
  std::unique_ptr<io::IndexSpace> names_;
};

namespace tasks {

// All of a model; on processes that have not gathered it the rows are missing.
template <class Real>
struct WholeModel {
  RatingModel<Real> model;
  RatingTraining<Real> training;
  SparseTensor<double> ratings;  // that it was trained on
  // See Recommender; nothing: it follows from the ratings.
  std::optional<typename Recommender<Real>::Learned> learned = {};

  // The model that ranks items.
  const RatingModel<Real>& ranks() const { return training.lists ? training.lists->model : model; }
};

template <class Real>
class CompletionState final : public CompletionModel::State {
 public:
  using Gather = std::function<WholeModel<Real>()>;  // collective

  CompletionState(const Comm& processes, std::vector<ModeLabels> mode_labels, Gather gather)
      : State(processes, std::move(mode_labels)), gather_(std::move(gather)) {}

  const WholeModel<Real>& whole() const { return *whole_; }

  void gather() override;
  Matrix<double> factors(RatingSide side) const override;
  std::vector<double> biases(RatingSide side) const override;
  void write(const std::filesystem::path& directory) const override;
  std::vector<report::ExampleUser> examples() const override;
  AnyRecommender recommender(Ranks ranks) override;
  Shrinkage shrinkage(Ranks ranks) const override;
  const SparseTensor<double>& ratings() const override { return whole_->ratings; }
  std::optional<RatingRange> range() const override { return whole_->training.range; }
  std::shared_ptr<State> with_items(Index num_items, std::vector<std::string> item_labels,
                                    const std::vector<RatingsOfItem>& items) override;
  std::shared_ptr<State> with_users(Index num_users, std::vector<std::string> user_labels,
                                    const std::vector<RatingsOfUser>& users) override;
  std::shared_ptr<State> on_every_process() override;

 private:
  // A model of what `change` makes of this one on process 0, with these labels. Collective.
  template <class Change>
  std::shared_ptr<CompletionState> changed(std::vector<ModeLabels> all_labels, Change change) const;

  Gather gather_;  // empty once it was called, so that what it holds is freed
  std::optional<WholeModel<Real>> whole_;
  std::unique_ptr<Recommender<Real>> recommenders_[2];  // by Ranks
};

}  // namespace tasks
}  // namespace polyad
