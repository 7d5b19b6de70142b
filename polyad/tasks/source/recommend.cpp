#include "polyad/tasks/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/models/prediction_table.hpp"
#include "polyad/io/tensors/rating_list.hpp"
#include "polyad/report/recommendation_report.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/output/table_output.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

using Question = report::RecommendationRun::Question;

constexpr Index max_top = 1000000;

// Nothing: there is no request, or there are several.
std::optional<Question> question_of(const RecommendOptions& options) {
  std::vector<Question> asked;
  if (!options.users.empty() || !options.user_names.empty()) asked.push_back(Question::users);
  if (options.all_users) asked.push_back(Question::all_users);
  if (!options.new_user.items.empty()) asked.push_back(Question::new_user);
  if (!options.new_user_file.empty()) asked.push_back(Question::new_user);
  if (!options.similar_items.empty() || !options.similar_item_names.empty())
    asked.push_back(Question::similar_items);
  return asked.size() == 1 ? std::optional(asked[0]) : std::nullopt;
}

void check_new_user(const UserRatings& user) {
  if (user.items.size() != user.ratings.size())
    tasks::refuse_option(fmt::format("{}: expected as many ratings as items, found {} and {}",
                                     option_name("new_user"), user.ratings.size(), user.items.size()));
  for (const double rating : user.ratings)
    if (!std::isfinite(rating))
      tasks::refuse_option(fmt::format("{}: a rating is not finite", option_name("new_user")));
}

// The table of predicted ratings: user, item, prediction; for a new user without the first.
class RecommendationTable {
 public:
  RecommendationTable(const std::filesystem::path& out, std::span<const ModeLabels> labels)
      : output_(out, {}), table_(names_of(labels), labels, tasks::table_separator(out), [this](auto text) {
          output_.write(text);
        }) {
    table_.write_head(io::PredictionTable::Values::absent, 0);
  }

  void write(std::span<const report::UserRecommendations> lists) {
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

  tasks::TableOutput output_;
  io::PredictionTable table_;
};

// Answers the request of the options, on process 0.
template <class Real>
class Answerer {
 public:
  using Rated = typename Recommender<Real>::Rated;

  Answerer(const Context& context, const RecommendOptions& options, CompletionModel::State& model,
           const Recommender<Real>& recommender, report::RecommendationRun& run)
      : context_(context),
        options_(options),
        model_(model),
        recommender_(recommender),
        rated_(options.with_rated ? Rated::included : Rated::left_out),
        run_(run) {}

  void answer() {
    run_.num_rated_items = recommender_.num_rated_items();
    if (run_.question == Question::users) answer_users();
    if (run_.question == Question::new_user) answer_new_user();
    if (run_.question == Question::similar_items) answer_similar_items();
    if (run_.question == Question::all_users) answer_all_users();
  }

 private:
  // The indices that were given, then those that were named.
  std::vector<Index> find(RatingSide side, std::vector<Index> indices,
                          const std::vector<std::string>& names) const {
    const bool is_user = side == RatingSide::user;
    const Index count = is_user ? run_.num_users : run_.num_items;
    for (const Index index : indices)
      if (index < 0 || index >= count)
        tasks::refuse_option(fmt::format("{} {}: the model has {} {}, counted from 0",
                                         option_name(is_user ? "users" : "similar_items"), index, count,
                                         is_user ? "users" : "items"));
    for (const auto& name : names) indices.push_back(find_named(side, name));
    return indices;
  }

  Index find_named(RatingSide side, const std::string& name) const {
    try {
      return model_.names().find_named(mode_of(side), name, to_string(side));
    } catch (const Error& error) {
      const auto* const field = side == RatingSide::user ? "#user_names" : "#similar_item_names";
      tasks::refuse_option(option_name(field) + error.message());
    }
  }

  void warn_of(RatingSide side, Index index, const std::string& what) const {
    const auto& labels = model_.labels[std::size_t(mode_of(side))].labels;
    const auto name = index < std::ssize(labels) ? labels[std::size_t(index)] : std::to_string(index + 1);
    context_.warn(fmt::format("{}{} has no ratings in the training{}",
                              model_.input.empty() ? "" : model_.input + ": ", name, what));
  }

  std::vector<report::UserRecommendations> recommend(std::span<const Index> users) const {
    auto lists = recommender_.recommend(users, options_.top, rated_);
    std::vector<report::UserRecommendations> result;
    for (std::size_t i = 0; i < users.size(); ++i)
      result.push_back({users[i], recommender_.num_rated_by(users[i]), std::move(lists[i])});
    return result;
  }

  void answer_users() {
    const auto users = find(RatingSide::user, options_.users, options_.user_names);
    for (const Index user : users)
      if (recommender_.num_rated_by(user) == 0)
        warn_of(RatingSide::user, user, ", and gets what everyone likes");
    run_.recommendations = recommend(users);
    finish_lists();
  }

  // Of the new user, by ascending item.
  io::RatingList known_ratings() const {
    if (!options_.new_user_file.empty()) return io::read_rating_list(options_.new_user_file, model_.names());
    const auto& given = options_.new_user;
    std::vector<std::pair<Index, double>> rated;
    for (std::size_t i = 0; i < given.items.size(); ++i) rated.emplace_back(given.items[i], given.ratings[i]);
    std::ranges::sort(rated);
    io::RatingList list;
    for (const auto& [item, rating] : rated) {
      if (item < 0 || item >= run_.num_items)
        tasks::refuse_option(fmt::format("{}: item {} does not exist; the {} items are counted from 0",
                                         option_name("new_user"), item, run_.num_items));
      if (!list.items.empty() && list.items.back() == item)
        tasks::refuse_option(fmt::format("{}: item {} is rated twice", option_name("new_user"), item));
      list.items.push_back(item);
      list.ratings.push_back(rating);
    }
    return list;
  }

  void answer_new_user() {
    const auto list = known_ratings();
    auto items =
        recommender_.recommend_to({list.items, list.ratings, model_.shrinkage()}, options_.top, rated_);
    run_.recommendations.push_back({{}, std::ssize(list.items), std::move(items)});
    finish_lists();
  }

  void finish_lists() {
    count(run_.recommendations);
    if (options_.out.empty()) return;
    const bool is_new = run_.question == Question::new_user;
    RecommendationTable table(options_.out, std::span(model_.labels).subspan(is_new ? 1 : 0));
    table.write(run_.recommendations);
    table.commit();
  }

  void answer_similar_items() {
    for (const Index item : find(RatingSide::item, options_.similar_items, options_.similar_item_names)) {
      if (!recommender_.is_rated(item)) warn_of(RatingSide::item, item, ": what is like it says nothing");
      run_.similar.push_back({item, recommender_.similar(item, options_.top)});
      run_.num_lines += std::ssize(run_.similar.back().items);
    }
    run_.num_answered = std::ssize(run_.similar);
  }

  void answer_all_users() {
    const auto users = recommender_.users_with_ratings();
    const Index step = recommender_.batch_size(options_.top);
    std::optional<RecommendationTable> table;
    if (!options_.out.empty()) table.emplace(options_.out, model_.labels);
    context_.progress().begin("recommending", std::ssize(users), "users");
    for (Index begin = 0; begin < std::ssize(users); begin += step) {
      const auto batch = std::span(users)
                             .subspan(std::size_t(begin))
                             .first(std::size_t(std::min(step, std::ssize(users) - begin)));
      auto lists = recommend(batch);
      count(lists);
      if (table)
        table->write(lists);
      else
        std::ranges::move(lists, std::back_inserter(run_.recommendations));
      context_.progress().advance(std::ssize(batch));
    }
    if (table) table->commit();
    context_.progress().finish();
  }

  void count(std::span<const report::UserRecommendations> lists) {
    run_.num_answered += std::ssize(lists);
    for (const auto& list : lists) run_.num_lines += std::ssize(list.items);
  }

  const Context& context_;
  const RecommendOptions& options_;
  CompletionModel::State& model_;
  const Recommender<Real>& recommender_;
  Rated rated_;
  report::RecommendationRun& run_;
};

// The answer of process 0, on all. Collective.
void share_answer(const Comm& comm, report::RecommendationRun& run) {
  if (comm.size() == 1) return;
  struct Head {
    Index of = -1, num_rated = 0, num_items = 0;
  };
  std::vector<Head> heads;
  ScoredItems items;
  const auto add = [&](Index of, Index num_rated, const ScoredItems& list) {
    heads.push_back({of, num_rated, std::ssize(list)});
    items.insert(items.end(), list.begin(), list.end());
  };
  for (const auto& one : run.recommendations) add(one.user.value_or(-1), one.num_rated, one.items);
  for (const auto& one : run.similar) add(one.item, 0, one.items);
  comm.broadcast(heads, 0);
  comm.broadcast(items, 0);
  run.num_rated_items = comm.broadcast(run.num_rated_items, 0);
  run.num_answered = comm.broadcast(run.num_answered, 0);
  run.num_lines = comm.broadcast(run.num_lines, 0);
  if (comm.rank() == 0) return;
  auto next = items.begin();
  for (const auto& head : heads) {
    ScoredItems list(next, next + head.num_items);
    next += head.num_items;
    if (run.question == Question::similar_items)
      run.similar.push_back({head.of, std::move(list)});
    else
      run.recommendations.push_back(
          {head.of < 0 ? std::nullopt : std::optional(head.of), head.num_rated, std::move(list)});
  }
}

std::vector<RecommendationList> lists_of(const report::RecommendationRun& run,
                                         std::span<const ModeLabels> labels) {
  const auto label = [&](int mode, Index index) {
    const auto& names = labels[std::size_t(mode)].labels;
    return index < std::ssize(names) ? names[std::size_t(index)] : std::string();
  };
  const auto named = [&](const ScoredItems& items) {
    std::vector<RecommendedItem> all;
    for (const auto& [item, score] : items) all.push_back({item, label(1, item), score});
    return all;
  };
  std::vector<RecommendationList> lists;
  for (const auto& one : run.recommendations)
    lists.push_back({one.user, one.user ? label(0, *one.user) : "", one.num_rated, named(one.items)});
  for (const auto& one : run.similar) lists.push_back({one.item, label(1, one.item), 0, named(one.items)});
  return lists;
}

report::RecommendationRun begin_run(const report::CompletionRun& model, const RecommendOptions& options) {
  report::RecommendationRun run;
  run.question = question_of(options).value();
  run.num_users = model.num_users;
  run.num_items = model.num_items;
  run.num_factors = model.options.num_factors;
  run.num_ratings = model.num_ratings;
  run.top = options.top;
  run.with_rated = options.with_rated;
  return run;
}

}  // namespace

void validate(const RecommendOptions& options) {
  const auto question = question_of(options);
  if (!question)
    tasks::refuse_option(fmt::format("expected exactly one of {}, {}, {} and {}", option_name("users"),
                                     option_name("all_users"), option_name("new_user"),
                                     option_name("similar_items")));
  if (options.top < 1 || options.top > max_top)
    tasks::refuse_option(
        fmt::format("{} {}: expected a number from 1 to {}", option_name("top"), options.top, max_top));
  check_new_user(options.new_user);
  if (*question == Question::similar_items && !options.out.empty())
    tasks::refuse_option(fmt::format("{} is for predicted ratings, not for {}", option_name("out"),
                                     option_name("similar_items")));
  if (*question == Question::similar_items && options.with_rated)
    tasks::refuse_option(
        fmt::format("{} does not apply to {}", option_name("with_rated"), option_name("similar_items")));
  tasks::table_separator(options.out);
}

Recommendations recommend(const Context& context, const CompletionModel& model,
                          const RecommendOptions& options) {
  const tasks::TaskScope scope(context);
  validate(options);
  auto& state = model.state();
  const Comm& comm = state.comm;
  const Stopwatch watch;
  const OneProcessWorks patience;
  auto run = begin_run(state.run, options);
  state.gather();
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::visit(
        [&](const auto* recommender) { Answerer(context, options, state, *recommender, run).answer(); },
        state.recommender());
  });
  share_answer(comm, run);
  auto json = report::recommendation_json(run, state.labels);
  json["precision"] = state.run.precision;
  json["out"] = options.out.string();
  json["threads"] = num_threads();
  json["seconds"] = {{"load", state.run.load_seconds}, {"recommend", watch.seconds()}};
  json["peak_memory_bytes"] = comm.all_reduce(peak_memory_bytes(), Reduce::max);
  return {{report::recommendation_text(run, state.labels), tasks::json_text(json)},
          lists_of(run, state.labels),
          run.num_answered,
          run.num_lines};
}

}  // namespace polyad
