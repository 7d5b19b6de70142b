#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/ratings/scored_item.hpp"

namespace polyad::report {

// What is recommended to one user. Without an index it is one that the model has not seen.
struct UserRecommendations {
  std::optional<Index> user;
  Index num_rated = 0;  // ratings of the user that are known
  ScoredItems items;
};

struct SimilarItems {
  Index item = 0;
  ScoredItems items;  // by cosine
};

// What `polyad recommend` was asked for, and its answer.
struct RecommendationRun {
  enum class Question { users, new_user, similar_items, all_users };

  Question question = Question::users;
  Index num_users = 0, num_items = 0, num_factors = 0, num_ratings = 0;  // of the model and its training
  Index num_rated_items = 0;  // that have any rating, and so can be recommended
  Index top = 0;
  bool with_rated = false;
  std::vector<UserRecommendations> recommendations;  // of all users: empty, they are in the table only
  std::vector<SimilarItems> similar;
  Index num_answered = 0;  // users or items
  Index num_lines = 0;     // items in all the answers
};

// `labels`: of users and of items. The keys of `polyad recommend --json`; docs/json.md names them all.
nlohmann::ordered_json recommendation_json(const RecommendationRun& run, std::span<const ModeLabels> labels);

// The same for people: a table per user or item.
std::string recommendation_text(const RecommendationRun& run, std::span<const ModeLabels> labels);

}  // namespace polyad::report
