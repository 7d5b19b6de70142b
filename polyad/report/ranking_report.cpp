#include "polyad/report/ranking_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "polyad/report/html/page_parts.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

struct NamedMeasure {
  const char *key, *name;
  double ListMeasures::*value;
};

constexpr std::array list_measures{NamedMeasure{"precision", "precision", &ListMeasures::precision},
                                   NamedMeasure{"recall", "recall", &ListMeasures::recall},
                                   NamedMeasure{"ndcg", "NDCG", &ListMeasures::ndcg},
                                   NamedMeasure{"map", "MAP", &ListMeasures::map},
                                   NamedMeasure{"mrr", "MRR", &ListMeasures::mrr},
                                   NamedMeasure{"hit_rate", "hit rate", &ListMeasures::hit_rate},
                                   NamedMeasure{"auc", "AUC", &ListMeasures::auc},
                                   NamedMeasure{"coverage", "coverage", &ListMeasures::coverage}};

std::size_t column_width(const NamedMeasure& measure) {
  constexpr std::size_t number_width = 6;
  return std::max(number_width, std::string_view(measure.name).size());
}

void add_measures(nlohmann::ordered_json& json, const ListMeasures& measured) {
  for (const auto& measure : list_measures) json[measure.key] = measured.*measure.value;
}

// A line of the table, whose columns are as wide as their names.
std::string table_row(const char* name, const ListMeasures& measured) {
  auto text = fmt::format("\n{:10}", name);
  for (const auto& measure : list_measures)
    text += fmt::format("  {:>{}.4f}", measured.*measure.value, column_width(measure));
  return text;
}

// Requires that no user has a relevant item.
std::string why_nothing_is_relevant(const RankingMetrics& ranking) {
  if (ranking.num_learned == 0)
    return fmt::format("no user has a test rating of {:.4g} or more, which would be relevant",
                       ranking.threshold);
  return fmt::format(
      "of {} of {:.4g} or more, none is relevant, because each is of a user and an item that also "
      "have a training rating",
      counted(ranking.num_learned, "test rating"), ranking.threshold);
}

}  // namespace

nlohmann::ordered_json ranking_json(const RankingMetrics& ranking) {
  nlohmann::ordered_json json;
  json["k"] = ranking.k;
  json["threshold"] = ranking.threshold;
  json["users"] = ranking.num_users;
  add_measures(json, ranking.model);
  add_measures(json["popularity"], ranking.popularity);
  return json;
}

std::string ranking_text(const RankingMetrics& ranking) {
  if (ranking.num_users == 0) return "lists are not measured: " + why_nothing_is_relevant(ranking);
  auto text =
      fmt::format("lists of {} for {}; test ratings of {:.4g} or more are relevant\n{:10}",
                  counted(ranking.k, "item"), counted(ranking.num_users, "user"), ranking.threshold, "");
  for (const auto& measure : list_measures)
    text += fmt::format("  {:>{}}", measure.name, column_width(measure));
  text += table_row("this model", ranking.model) + table_row("popularity", ranking.popularity);
  if (const auto warning = below_popularity(ranking)) text += "\n" + *warning;
  return text;
}

std::string ranking_html(const RankingMetrics& ranking) {
  if (ranking.num_users == 0 && ranking.num_learned > 0)
    return fmt::format("<p>Lists are not measured: {}.</p>\n", why_nothing_is_relevant(ranking));
  if (ranking.num_users == 0)
    return "<p>No user has a rating among those held out that says what is worth recommending.</p>\n";
  std::string rows;
  for (const auto& measure : list_measures)
    rows += fmt::format("<tr><th scope=\"row\">{}</th>", measure.name) +
            cell("this model", fmt::format("{:.4f}", ranking.model.*measure.value)) +
            cell("popularity", fmt::format("{:.4f}", ranking.popularity.*measure.value)) + "</tr>\n";
  return fmt::format("<p>Of the first {} to each of {}; a test rating of {:.4g} or more is relevant.</p>\n",
                     plural(ranking.k, "recommendation"), plural(ranking.num_users, "user"),
                     ranking.threshold) +
         table_of({"measure", "this model", "popularity"}, rows);
}

std::optional<std::string> below_popularity(const RankingMetrics& ranking) {
  if (ranking.num_users == 0 || ranking.model.ndcg >= ranking.popularity.ndcg) return std::nullopt;
  return fmt::format(
      "the lists of this model are worse than those of the items with the most ratings: NDCG {:.4f}, by "
      "popularity {:.4f}",
      ranking.model.ndcg, ranking.popularity.ndcg);
}

}  // namespace polyad::report
