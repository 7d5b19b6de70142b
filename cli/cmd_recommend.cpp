#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "cli/table_output.hpp"
#include "polyad/algo/recommend.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/io/models/prediction_table.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/io/tensors/rating_list.hpp"
#include "polyad/report/recommendation_report.hpp"

namespace polyad::cli {
namespace {

using Question = RecommendationRun::Question;

struct Args {
  CommonOptions common;
  std::string model, ratings, out;
  std::vector<std::string> users, similar_items;
  bool all = false, with_rated = false;
  Index top = 10;
};

// What is asked for: one thing at a time.
Question question_of(const Args& args) {
  const int questions = int(!args.users.empty()) + int(!args.similar_items.empty()) +
                        int(!args.ratings.empty()) + int(args.all);
  if (questions != 1)
    throw Error(Errc::bad_option,
                "say one of --user ID, --all, --ratings FILE and --similar-items ID, to tell what is wanted");
  if (!args.users.empty()) return Question::users;
  if (!args.similar_items.empty()) return Question::similar_items;
  return args.all ? Question::all_users : Question::new_user;
}

void check_options(const Args& args, Question question) {
  if (question == Question::all_users && args.out.empty())
    throw Error(Errc::bad_option, "--all needs --out FILE, for the table");
  if (question == Question::similar_items && !args.out.empty())
    throw Error(Errc::bad_option, "--out is for predicted ratings, not for --similar-items");
  if (question == Question::similar_items && args.with_rated)
    throw Error(Errc::bad_option, "--with-rated says nothing about --similar-items");
  table_separator(args.out);
}

FilePlan file_plan(const Args& args) {
  FilePlan plan;
  plan.reads("the model", args.model).reads("the ratings", args.ratings);
  return plan.writes("--out", args.out);
}

// The table of predicted ratings: user, item, prediction; of a new user without the first.
class RecommendationTable {
 public:
  RecommendationTable(const Args& args, std::span<const ModeLabels> labels)
      : output_(args.out), table_(names_of(labels), labels, table_separator(args.out), [this](auto text) {
          output_.write(text);
        }) {
    table_.write_head(io::PredictionTable::Values::absent, 0);
  }

  void write(std::span<const UserRecommendations> lists) {
    std::vector<Index> users, items;
    std::vector<double> ratings;
    for (const auto& list : lists)
      for (const auto& item : list.items) {
        if (list.user) users.push_back(*list.user);
        items.push_back(item.item);
        ratings.push_back(item.score);
      }
    std::vector<std::span<const Index>> coordinates{users, items};
    if (users.empty()) coordinates.erase(coordinates.begin());
    table_.write_rows({coordinates, ratings, {}, {}});
  }
  void commit() { output_.commit(); }

 private:
  static std::vector<std::string> names_of(std::span<const ModeLabels> labels) {
    std::vector<std::string> names;
    for (const auto& mode : labels) names.push_back(mode.name);
    return names;
  }

  TableOutput output_;
  io::PredictionTable table_;
};

// A model that answers, and what is told of it.
template <class Real>
class Answerer {
 public:
  using Rated = typename Recommender<Real>::Rated;

  Answerer(const Args& args, io::StoredRatingModel<Real> stored, Console& console)
      : args_(args),
        console_(console),
        model_(std::move(stored.model)),
        shrinkage_(stored.training.shrinkage),
        space_({model_.num_users(), model_.num_items()}, std::move(stored.labels),
               io::IndexSpace::Unknown::fault),
        rated_(args.with_rated ? Rated::included : Rated::left_out) {
    run_.num_users = model_.num_users();
    run_.num_items = model_.num_items();
    run_.num_factors = model_.num_factors();
    run_.num_ratings = stored.ratings.num_nonzeros();
    run_.top = args.top;
    run_.with_rated = args.with_rated;
    recommender_ = std::make_unique<Recommender<Real>>(model_, std::move(stored.ratings));
    run_.num_rated_items = recommender_->num_rated_items();
  }

  const RecommendationRun& answer(Question question) {
    run_.question = question;
    if (question == Question::users) answer_users();
    if (question == Question::new_user) answer_new_user();
    if (question == Question::similar_items) answer_similar_items();
    if (question == Question::all_users) answer_all_users();
    return run_;
  }
  const std::vector<ModeLabels>& labels() const { return space_.labels(); }

 private:
  std::vector<UserRecommendations> recommend(std::span<const Index> users) const {
    auto lists = recommender_->recommend(users, args_.top, rated_);
    std::vector<UserRecommendations> result;
    for (std::size_t i = 0; i < users.size(); ++i)
      result.push_back({users[i], recommender_->num_rated_by(users[i]), std::move(lists[i])});
    return result;
  }

  void answer_users() {
    std::vector<Index> users;
    for (const auto& id : args_.users) users.push_back(space_.find_named(0, id, "user"));
    for (std::size_t i = 0; i < users.size(); ++i)
      if (recommender_->num_rated_by(users[i]) == 0)
        console_.warn(fmt::format("{}: {} has no ratings in the training, and gets what everyone likes",
                                  args_.model, args_.users[i]));
    run_.recommendations = recommend(users);
    finish_lists();
  }

  void answer_new_user() {
    const auto list = io::read_rating_list(args_.ratings, space_);
    auto items = recommender_->recommend_to({list.items, list.ratings, shrinkage_}, args_.top, rated_);
    run_.recommendations.push_back({{}, std::ssize(list.items), std::move(items)});
    finish_lists();
  }

  void finish_lists() {
    count(run_.recommendations);
    if (args_.out.empty()) return;
    const bool is_new = run_.question == Question::new_user;
    RecommendationTable table(args_, std::span(space_.labels()).subspan(is_new ? 1 : 0));
    table.write(run_.recommendations);
    table.commit();
  }

  void answer_similar_items() {
    for (const auto& id : args_.similar_items) {
      const Index item = space_.find_named(1, id, "item");
      if (!recommender_->is_rated(item))
        console_.warn(fmt::format("{}: {} has no ratings in the training: what is like it says nothing",
                                  args_.model, id));
      run_.similar.push_back({item, recommender_->similar(item, args_.top)});
      run_.num_lines += std::ssize(run_.similar.back().items);
    }
    run_.num_answered = std::ssize(run_.similar);
  }

  void answer_all_users() {
    const auto users = recommender_->users_with_ratings();
    const Index step = recommender_->batch_size(args_.top);
    RecommendationTable table(args_, space_.labels());
    console_.progress().begin("recommending", std::ssize(users), "users");
    for (Index begin = 0; begin < std::ssize(users); begin += step) {
      const auto batch = std::span(users)
                             .subspan(std::size_t(begin))
                             .first(std::size_t(std::min(step, std::ssize(users) - begin)));
      const auto lists = recommend(batch);
      table.write(lists);
      count(lists);
      console_.progress().advance(std::ssize(batch));
    }
    table.commit();
    console_.progress().finish();
  }

  void count(std::span<const UserRecommendations> lists) {
    run_.num_answered += std::ssize(lists);
    for (const auto& list : lists) run_.num_lines += std::ssize(list.items);
  }

  const Args& args_;
  Console& console_;
  RatingModel<Real> model_;
  Shrinkage shrinkage_;
  io::IndexSpace space_;
  Rated rated_;
  std::unique_ptr<Recommender<Real>> recommender_;
  RecommendationRun run_;
};

template <class Real>
void run_with(const Args& args, Question question, Console& console) {
  Timings timings;
  std::optional<Answerer<Real>> answerer;
  timings.measure("load", [&] { answerer.emplace(args, io::read_rating_model<Real>(args.model), console); });
  const auto& run = *timings.measure("recommend", [&] { return &answerer->answer(question); });
  console.say(recommendation_text(run, answerer->labels()));
  if (!args.out.empty()) console.say(args.out + ": the recommendations");
  auto json = recommendation_json(run, answerer->labels());
  json["precision"] = sizeof(Real) == sizeof(float) ? "single" : "double";
  json["out"] = args.out;
  json["threads"] = num_threads();
  for (const auto& [phase, seconds] : timings.phases()) json["seconds"][phase] = seconds;
  json["peak_memory_bytes"] = peak_memory_bytes();
  console.result(json);
}

void run(const Comm& comm, const Args& args) {
  require_one_process(comm, "recommend");
  const Question question = question_of(args);
  check_options(args, question);
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args); }));
  if (io::is_single_rating_model(args.model))
    run_with<float>(args, question, console);
  else
    run_with<double>(args, question, console);
}

}  // namespace

void add_recommend(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand("recommend", "What users would like, by a model of ratings");
  command->add_option("model", args->model, "The model: the directory that complete --out wrote")->required();
  command
      ->add_option("--user", args->users,
                   "Recommend to this user: a label, or a number from 1; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--all", args->all, "Recommend to every user that has ratings, into --out");
  command->add_option("--ratings", args->ratings,
                      "Recommend to a new user with these ratings: a line for each, item and rating");
  command
      ->add_option("--similar-items", args->similar_items,
                   "The items most like this one, by the cosine of their factors; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--top", args->top, "How many items")
      ->capture_default_str()
      ->check(in_range(1, 1000000));
  command->add_flag("--with-rated", args->with_rated, "Also recommend what the user has rated");
  command->add_option("--out", args->out,
                      "Write the recommendations to this table, .tsv or .csv, or .gz behind");
  add_common_options(*command, args->common);
  command->footer("Example: polyad recommend model --user 7 --top 5");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
