#include "polyad/report/recommendation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "polyad/report/printable_text.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

using Json = nlohmann::ordered_json;
using Question = RecommendationRun::Question;

const char* name_of(Question question) {
  switch (question) {
    case Question::users:
      return "users";
    case Question::new_user:
      return "new user";
    case Question::new_users:
      return "new users";
    case Question::similar_users:
      return "similar users";
    case Question::similar_items:
      return "similar items";
    case Question::all_users:
      return "all users";
  }
  return "";
}

// The label as text, else the index as a number from 1.
Json index_json(const ModeLabels& mode, Index index) {
  return index < Index(mode.labels.size()) ? Json(mode.labels[index]) : Json(index + 1);
}

// The same for people.
std::string index_text(const ModeLabels& mode, Index index) {
  constexpr int widest = 60;
  return index < Index(mode.labels.size()) ? clip(printable(mode.labels[index]), widest)
                                           : fmt::format("{}", index + 1);
}

Json items_json(const ScoredItems& items, const ModeLabels& labels) {
  auto list = Json::array();
  for (const auto& item : items)
    list.push_back({{"item", index_json(labels, item.item)}, {"rating", item.score}});
  return list;
}

// `noun`: user or item.
Json similar_json(const std::vector<SimilarList>& lists, const ModeLabels& labels, const char* noun,
                  bool has_counts) {
  auto all = Json::array();
  for (const auto& one : lists) {
    auto rows = Json::array();
    for (const auto& row : one.rows)
      rows.push_back({{noun, index_json(labels, row.row)},
                      {"similarity", row.similarity},
                      {"cosine", row.cosine},
                      {"ratings", has_counts ? Json(row.num_ratings) : Json()}});
    all.push_back({{noun, index_json(labels, one.of)}, {"similar", std::move(rows)}});
  }
  return all;
}

std::string items_text(const ScoredItems& items, const ModeLabels& labels) {
  double largest = 0;
  for (const auto& item : items) largest = std::max(largest, std::abs(item.score));
  const NumberColumn numbers(largest);
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i)
    text += fmt::format("\n{:>5}  {:>8}  {}{}", i + 1, numbers.text(items[i].score),
                        labels.empty() ? "item " : "", index_text(labels, items[i].item));
  return text.empty() ? "\n       nothing" : text;
}

// Whether it is known what users have.
bool has_ratings(const RecommendationRun& run) {
  return !run.source || !run.source->known.empty();
}

Json source_json(const RecommendationSource& source) {
  auto at = Json::array();
  for (const auto& [mode, place] : source.at) at.push_back({{"mode", mode}, {"place", place}});
  return {{"user_mode", source.user_mode},
          {"item_mode", source.item_mode},
          {"at", std::move(at)},
          {"averaged", source.averaged},
          {"known", source.known.empty() ? Json() : Json(source.known)}};
}

// Where the decomposition was evaluated.
std::string source_text(const RecommendationSource& source) {
  std::string text;
  for (const auto& [mode, place] : source.at)
    text += fmt::format("{}{} {}", text.empty() ? "at " : ", ", printable(mode), printable(place));
  for (std::size_t i = 0; i < source.averaged.size(); ++i) {
    if (i == 0) text += text.empty() ? "mean over " : "; mean over ";
    text += (i == 0 ? "" : ", ") + printable(source.averaged[i]);
  }
  return text;
}

std::string similar_text(const SimilarList& one, const ModeLabels& labels, const std::string& noun,
                         bool has_counts) {
  auto text = fmt::format("like {} {}:", noun, index_text(labels, one.of));
  for (std::size_t i = 0; i < one.rows.size(); ++i)
    text += fmt::format("\n{:>5}  {:>8.4f}  {}{}{}", i + 1, one.rows[i].similarity,
                        labels.empty() ? noun + " " : "", index_text(labels, one.rows[i].row),
                        has_counts ? fmt::format(" ({})", counted(one.rows[i].num_ratings, "rating")) : "");
  return one.rows.empty() ? text + "\n       nothing" : text;
}

std::string user_text(const UserRecommendations& one, std::span<const ModeLabels> labels, bool is_new,
                      bool has_counts) {
  const std::string who =
      one.user ? (is_new ? "new user " : "user ") + index_text(labels[0], *one.user) : "the new user";
  const auto rated = has_counts ? ", with " + counted(one.num_rated, "rating") : "";
  return fmt::format("for {}{}:", who, rated) + items_text(one.items, labels[1]);
}

}  // namespace

Json recommendation_json(const RecommendationRun& run, std::span<const ModeLabels> labels) {
  auto recommendations = Json::array();
  for (const auto& one : run.recommendations)
    recommendations.push_back({{"user", one.user ? index_json(labels[0], *one.user) : Json()},
                               {"rated", has_ratings(run) ? Json(one.num_rated) : Json()},
                               {"items", items_json(one.items, labels[1])}});
  const bool are_users = run.question == Question::similar_users;
  const std::vector<SimilarList> none;
  Json json{
      {"request", name_of(run.question)},
      {"users", run.num_users},
      {"items", run.num_items},
      {"factors", run.num_factors},
      {"ratings", run.num_ratings},
      {"rated_items", run.num_rated_items},
      {"candidates", run.num_candidates},
      {"top", run.top},
      {"with_rated", run.with_rated},
      {"answered", run.num_answered},
      {"count", run.num_lines},
      {"recommendations", std::move(recommendations)},
      {"similar_items", similar_json(are_users ? none : run.similar, labels[1], "item", has_ratings(run))},
      {"similar_users", similar_json(are_users ? run.similar : none, labels[0], "user", has_ratings(run))}};
  if (run.source) json["decomposition"] = source_json(*run.source);
  return json;
}

std::string recommendation_text(const RecommendationRun& run, std::span<const ModeLabels> labels) {
  std::string text = fmt::format("{}, {}, {}", counted(run.num_users, "user"), counted(run.num_items, "item"),
                                 counted(run.num_factors, run.source ? "component" : "factor"));
  if (run.num_rated_items < run.num_items)
    text +=
        fmt::format("; {} excluded for lack of {}", counted_were(run.num_items - run.num_rated_items, "item"),
                    run.source ? "cells in the tensor" : "ratings");
  if (run.num_candidates < run.num_rated_items)
    text += fmt::format("; {} of the others may be recommended", with_commas(run.num_candidates));
  if (run.source)
    if (const auto where = source_text(*run.source); !where.empty()) text += "\n" + where;
  const bool is_new = run.question == Question::new_users,
             are_users = run.question == Question::similar_users;
  if (run.question == Question::all_users || (is_new && run.recommendations.empty()))
    text += fmt::format("\n{} recommended to {}", counted(run.num_lines, "item"),
                        counted(run.num_answered, "user"));
  for (const auto& one : run.recommendations) text += "\n" + user_text(one, labels, is_new, has_ratings(run));
  for (const auto& one : run.similar)
    text +=
        "\n" + similar_text(one, labels[are_users ? 0 : 1], are_users ? "user" : "item", has_ratings(run));
  return text;
}

}  // namespace polyad::report
