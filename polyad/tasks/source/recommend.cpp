#include "polyad/tasks/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
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
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/output/table_output.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/ratings/recommend_source.hpp"
#include "polyad/tasks/detail/ratings/share_answer.hpp"
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
  if (!options.new_users_file.empty()) asked.push_back(Question::new_users);
  if (!options.similar_items.empty() || !options.similar_item_names.empty())
    asked.push_back(Question::similar_items);
  if (!options.similar_users.empty() || !options.similar_user_names.empty())
    asked.push_back(Question::similar_users);
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

void check_similar(Question question, const RecommendOptions& options) {
  const bool is_of_users = question == Question::similar_users;
  const auto asked = option_name(is_of_users ? "similar_users" : "similar_items");
  if (!(options.support >= 0 && std::isfinite(options.support)))
    tasks::refuse_option(fmt::format("{} {}: expected 0 or more", option_name("support"), options.support));
  if (!is_of_users && question != Question::similar_items) {
    if (options.support != RecommendOptions{}.support)
      tasks::refuse_option(fmt::format("{} is for {} and {}", option_name("support"),
                                       option_name("similar_items"), option_name("similar_users")));
    return;
  }
  if (!options.out.empty())
    tasks::refuse_option(fmt::format("{} is for predicted ratings, not for {}", option_name("out"), asked));
  if (options.with_rated)
    tasks::refuse_option(fmt::format("{} does not apply to {}", option_name("with_rated"), asked));
  const bool chooses_items = !options.candidates.empty() || !options.candidates_file.empty() ||
                             !options.exclude.empty() || !options.exclude_file.empty();
  if (is_of_users && chooses_items)
    tasks::refuse_option(fmt::format("{} and {} name items, and do not apply to {}",
                                     option_name("candidates"), option_name("exclude"), asked));
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
           CompletionModel::State::Ranks ranks, const Recommender<Real>& recommender,
           report::RecommendationRun& run)
      : context_(context),
        options_(options),
        model_(model),
        ranks_(ranks),
        recommender_(recommender),
        candidates_(find_candidates()),
        run_(run) {}

  void answer() {
    run_.num_rated_items = recommender_.num_rated_items();
    run_.num_candidates = std::ssize(candidates_);
    if (run_.question == Question::users) answer_users();
    if (run_.question == Question::new_user) answer_new_user();
    if (run_.question == Question::new_users) answer_new_users();
    if (run_.question == Question::similar_items) answer_similar(RatingSide::item);
    if (run_.question == Question::similar_users) answer_similar(RatingSide::user);
    if (run_.question == Question::all_users) answer_all_users();
  }
  const std::vector<std::string>& new_users() const { return new_users_; }

 private:
  using Wanted = typename Recommender<Real>::Wanted;
  using NewUser = typename Recommender<Real>::NewUser;

  Wanted wanted() const {
    return {candidates_, options_.top, options_.with_rated ? Rated::included : Rated::left_out};
  }

  void check_indices(const char* field, std::span<const Index> indices, RatingSide side) const {
    const bool is_user = side == RatingSide::user;
    const Index count = is_user ? model_.run.num_users : model_.run.num_items;
    for (const Index index : indices)
      if (index < 0 || index >= count)
        tasks::refuse_option(fmt::format("{} {}: the model has {} {}, counted from 0", option_name(field),
                                         index, count, is_user ? "users" : "items"));
  }

  // The items that were given, and those in the file.
  std::set<Index> read_items(const char* field, std::span<const Index> given,
                             const std::filesystem::path& file) const {
    check_indices(field, given, RatingSide::item);
    std::set<Index> items(given.begin(), given.end());
    if (file.empty()) return items;
    const auto listed = io::read_item_list(file, model_.names());
    if (listed.num_unknown > 0)
      context_.warn(fmt::format("{}: {} left out that the model does not have", file.string(),
                                report::counted_were(listed.num_unknown, "item")));
    items.insert(listed.items.begin(), listed.items.end());
    return items;
  }

  std::vector<Index> find_candidates() const {
    const bool are_all = options_.candidates.empty() && options_.candidates_file.empty();
    const auto listed = read_items("candidates", options_.candidates, options_.candidates_file);
    const auto excluded = read_items("exclude", options_.exclude, options_.exclude_file);
    std::vector<Index> candidates;
    for (const Index item : recommender_.rated_items())
      if ((are_all || listed.contains(item)) && !excluded.contains(item)) candidates.push_back(item);
    if (candidates.empty() && !(are_all && excluded.empty()))
      tasks::refuse_option(fmt::format("{} and {} leave no item that has {}", option_name("candidates"),
                                       option_name("exclude"),
                                       model_.source ? "cells in the tensor" : "ratings in the training"));
    return candidates;
  }

  // The indices that were given, then those that were named.
  std::vector<Index> find(const char* field, RatingSide side, std::vector<Index> indices,
                          const std::vector<std::string>& names, const char* names_field) const {
    check_indices(field, indices, side);
    for (const auto& name : names) indices.push_back(find_named(side, name, names_field));
    return indices;
  }

  Index find_named(RatingSide side, const std::string& name, const char* field) const {
    try {
      return model_.names().find_named(mode_of(side), name, to_string(side));
    } catch (const Error& error) {
      tasks::refuse_option(option_name(field) + error.message());
    }
  }

  void warn_of(RatingSide side, Index index, const std::string& what) const {
    const auto& labels = model_.labels[std::size_t(mode_of(side))].labels;
    const auto name = index < std::ssize(labels) ? labels[std::size_t(index)] : std::to_string(index + 1);
    context_.warn(fmt::format("{}{} has no {}{}", model_.input.empty() ? "" : model_.input + ": ", name,
                              model_.source ? "cells in the tensor" : "ratings in the training", what));
  }

  std::vector<report::UserRecommendations> recommend(std::span<const Index> users) const {
    auto lists = recommender_.recommend(users, wanted());
    std::vector<report::UserRecommendations> result;
    for (std::size_t i = 0; i < users.size(); ++i)
      result.push_back({users[i], recommender_.num_rated_by(users[i]), std::move(lists[i])});
    return result;
  }

  void answer_users() {
    const auto users = find("users", RatingSide::user, options_.users, options_.user_names, "#user_names");
    for (const Index user : users)
      if (!recommender_.has_learned(RatingSide::user, user))
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

  std::string item_name(Index item) const {
    const auto& labels = model_.labels[std::size_t(mode_of(RatingSide::item))].labels;
    return item < std::ssize(labels) ? labels[std::size_t(item)] : std::to_string(item + 1);
  }

  // Of ratings of new users that no training rating is like, the first, and how many there are. `of(i)`: the
  // list of the i-th user.
  template <class ListOf>
  void warn_of_range(const std::filesystem::path& file, Index num_users, ListOf of) const {
    const auto range = model_.range();
    if (!range) return;
    std::string first;
    Index count = 0;
    for (Index i = 0; i < num_users; ++i) {
      const io::RatingList& list = of(i);
      for (std::size_t r = 0; r < list.ratings.size(); ++r) {
        const double rating = list.ratings[r];
        if (rating >= range->least && rating <= range->largest) continue;
        if (count++ == 0) first = fmt::format("{}: {}", item_name(list.items[r]), rating);
      }
    }
    if (count == 0) return;
    context_.warn(fmt::format("{}{}{} is outside the range of the ratings, {} to {}{}", file.string(),
                              file.empty() ? "" : ": ", first, range->least, range->largest,
                              count == 1 ? ""
                                         : fmt::format("; so {} {} more", count == 2 ? "is" : "are",
                                                       report::with_commas(count - 1))));
  }

  void answer_new_user() {
    const auto list = known_ratings();
    warn_of_range(options_.new_user_file, 1, [&](Index) -> const io::RatingList& { return list; });
    const NewUser user{list.items, list.ratings};
    auto lists = recommender_.recommend_to(std::span(&user, 1), model_.shrinkage(ranks_), wanted());
    run_.recommendations.push_back({{}, std::ssize(list.items), std::move(lists[0])});
    finish_lists();
  }

  // Their indices are places in the file.
  void answer_new_users() {
    const auto known = io::read_rating_lists(options_.new_users_file, model_.names());
    for (const auto& one : known) new_users_.push_back(one.name);
    warn_of_range(options_.new_users_file, std::ssize(known),
                  [&](Index i) -> const io::RatingList& { return known[std::size_t(i)].list; });
    std::vector labels{ModeLabels{model_.labels[0].name, new_users_}, model_.labels[1]};
    answer_in_batches(std::ssize(known), labels, [&](Index begin, Index end) {
      std::vector<NewUser> users;
      for (Index i = begin; i < end; ++i) users.push_back({known[i].list.items, known[i].list.ratings});
      auto lists = recommender_.recommend_to(users, model_.shrinkage(ranks_), wanted());
      std::vector<report::UserRecommendations> result;
      for (Index i = begin; i < end; ++i)
        result.push_back({i, std::ssize(known[i].list.items), std::move(lists[i - begin])});
      return result;
    });
  }

  void finish_lists() {
    count(run_.recommendations);
    if (options_.out.empty()) return;
    const bool is_new = run_.question == Question::new_user;
    RecommendationTable table(options_.out, std::span(model_.labels).subspan(is_new ? 1 : 0));
    table.write(run_.recommendations);
    table.commit();
  }

  void answer_similar(RatingSide side) {
    const bool is_user = side == RatingSide::user;
    const auto rows = is_user ? find("similar_users", side, options_.similar_users,
                                     options_.similar_user_names, "#similar_user_names")
                              : find("similar_items", side, options_.similar_items,
                                     options_.similar_item_names, "#similar_item_names");
    const auto candidates = is_user ? recommender_.users_with_ratings() : candidates_;
    for (const Index row : rows) {
      if (!recommender_.has_learned(side, row))
        warn_of(side, row, is_user ? ": who is like it says nothing" : ": what is like it says nothing");
      run_.similar.push_back(
          {row, recommender_.similar(side, row, candidates, options_.support, options_.top)});
      run_.num_lines += std::ssize(run_.similar.back().rows);
    }
    run_.num_answered = std::ssize(run_.similar);
  }

  void answer_all_users() {
    const auto users = recommender_.users_with_ratings();
    answer_in_batches(std::ssize(users), model_.labels, [&](Index begin, Index end) {
      return recommend(std::span(users).subspan(std::size_t(begin), std::size_t(end - begin)));
    });
  }

  // `answer_some` returns the lists of the users [begin, end) of `num_users`; they go to the table, if there
  // is one, else into the answer.
  template <class AnswerSome>
  void answer_in_batches(Index num_users, std::span<const ModeLabels> labels, AnswerSome answer_some) {
    const Index step = recommender_.batch_size(options_.top);
    std::optional<RecommendationTable> table;
    if (!options_.out.empty()) table.emplace(options_.out, labels);
    context_.progress().begin("recommending", num_users, "users");
    for (Index begin = 0; begin < num_users; begin += step) {
      const Index end = std::min(begin + step, num_users);
      auto lists = answer_some(begin, end);
      count(lists);
      if (table)
        table->write(lists);
      else
        std::ranges::move(lists, std::back_inserter(run_.recommendations));
      context_.progress().advance(end - begin);
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
  CompletionModel::State::Ranks ranks_;
  const Recommender<Real>& recommender_;
  std::vector<Index> candidates_;  // ascending
  report::RecommendationRun& run_;
  std::vector<std::string> new_users_;  // their names
};

std::vector<RecommendationList> lists_of(const report::RecommendationRun& run,
                                         std::span<const ModeLabels> labels) {
  const auto label = [&](int mode, Index index) {
    const auto& names = labels[std::size_t(mode)].labels;
    return index < std::ssize(names) ? names[std::size_t(index)] : std::string();
  };
  std::vector<RecommendationList> lists;
  for (const auto& one : run.recommendations) {
    lists.push_back({one.user, one.user ? label(0, *one.user) : "", one.num_rated, {}});
    for (const auto& [item, score] : one.items)
      lists.back().items.push_back({item, label(1, item), score, 0, 0});
  }
  const int mode = run.question == Question::similar_users ? 0 : 1;
  for (const auto& one : run.similar) {
    lists.push_back({one.of, label(mode, one.of), 0, {}});
    for (const auto& [row, similarity, cosine, num_ratings] : one.rows)
      lists.back().items.push_back({row, label(mode, row), similarity, cosine, num_ratings});
  }
  return lists;
}

using Ranks = CompletionModel::State::Ranks;

Ranks ranks_of(const CompletionModel::State& model, ListsBy lists) {
  const bool has_lists = model.run.lists.has_value(), is_implicit = model.run.alpha.has_value();
  const auto input = model.input.empty() ? "" : model.input + ": ";
  if (lists == ListsBy::ranking && !has_lists && !is_implicit)
    tasks::refuse_option(fmt::format("{}{} ranking: the model was trained without one for lists", input,
                                     option_name("lists")));
  if (lists == ListsBy::ratings && is_implicit)
    tasks::refuse_option(
        fmt::format("{}{} ratings: a model of implicit feedback predicts none", input, option_name("lists")));
  return has_lists && lists != ListsBy::ratings ? Ranks::by_lists : Ranks::by_ratings;
}

// Lists by rating that were not asked for.
void note_ranks(const Context& context, const CompletionModel::State& model, ListsBy lists) {
  const bool is_decomposition = model.source.has_value();
  if (lists != ListsBy::automatic || model.run.lists || model.run.alpha || is_decomposition) return;
  context.note(
      (model.input.empty() ? "" : model.input + ": ") +
      "the model has none for lists: items are ranked by predicted rating, which is often worse than by "
      "popularity");
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
    tasks::refuse_option(fmt::format("expected exactly one of {}, {}, {}, {}, {} and {}",
                                     option_name("users"), option_name("all_users"), option_name("new_user"),
                                     option_name("new_users"), option_name("similar_items"),
                                     option_name("similar_users")));
  if (options.top < 1 || options.top > max_top)
    tasks::refuse_option(
        fmt::format("{} {}: expected a number from 1 to {}", option_name("top"), options.top, max_top));
  check_new_user(options.new_user);
  check_similar(*question, options);
  tasks::require_enumerator("lists", options.lists, ListsBy::ratings);
  tasks::table_separator(options.out);
}

Recommendations recommend(const Context& context, const CompletionModel& given,
                          const RecommendOptions& options) {
  const tasks::TaskScope scope(context);
  validate(options);
  const auto model =
      options.new_items_file.empty() ? given : add_items_from(context, given, options.new_items_file);
  const Index num_new_ratings = model.num_ratings() - given.num_ratings();
  auto& state = model.state();
  const Comm& comm = state.comm;
  const Stopwatch watch;
  const OneProcessWorks patience;
  if (!state.source) tasks::refuse_decomposition_options(options);
  const auto ranks = ranks_of(state, options.lists);
  auto run = begin_run(state.run, options);
  run.source = state.source;
  state.gather();
  auto labels = state.labels;
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::visit(
        [&](const auto* recommender) {
          Answerer answerer(context, options, state, ranks, *recommender, run);
          answerer.answer();
          if (run.question == Question::new_users) labels[0].labels = answerer.new_users();
        },
        state.recommender(ranks));
  });
  tasks::share_answer(comm, run);
  note_ranks(context, state, options.lists);
  if (run.question == Question::new_users) tasks::share_texts(comm, labels[0].labels);
  auto json = report::recommendation_json(run, labels);
  json["lists"] = state.run.alpha || ranks == Ranks::by_lists ? "ranking" : "ratings";
  if (num_new_ratings > 0) json["new_item_ratings"] = num_new_ratings;
  json["precision"] = state.run.precision;
  json["out"] = options.out.string();
  json["threads"] = num_threads();
  json["seconds"] = {{"load", state.run.load_seconds}, {"recommend", watch.seconds()}};
  json["peak_memory_bytes"] = comm.all_reduce(peak_memory_bytes(), Reduce::max);
  return {{report::recommendation_text(run, labels), tasks::json_text(json)},
          lists_of(run, labels),
          run.num_answered,
          run.num_lines};
}

}  // namespace polyad
