#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/ratings/scored_item.hpp"

namespace polyad::report {

// Recommendations for one user. Without an index: the only user who is not in the model.
struct UserRecommendations {
  std::optional<Index> user;
  Index num_rated = 0;  // known ratings of the user
  ScoredItems items;
};

// Users, or items, that are similar to one.
struct SimilarList {
  Index of = 0;
  SimilarRows rows;
};

// The decomposition that recommendations are those of.
struct RecommendationSource {
  struct Place {
    std::string mode, place;  // as it is shown
  };
  std::string user_mode, item_mode;   // names
  std::vector<Place> at = {};         // where it was evaluated
  std::vector<std::string> averaged;  // names of the modes that were averaged over
  std::string known;                  // the file that says what users have; empty: nothing does
};

// Request and result of a run of `polyad recommend`.
struct RecommendationRun {
  enum class Question { users, new_user, new_users, similar_items, similar_users, all_users };

  Question question = Question::users;
  Index num_users = 0, num_items = 0, num_factors = 0, num_ratings = 0;  // of the model and its training
  Index num_rated_items = 0;  // with any rating, so that they can be recommended
  Index num_candidates = 0;   // of those, that are asked for
  Index top = 0;
  bool with_rated = false;
  std::vector<UserRecommendations> recommendations;  // empty for all users, which are in the table only
  std::vector<SimilarList> similar;
  Index num_answered = 0;                           // users or items
  Index num_lines = 0;                              // items in all answers
  std::optional<RecommendationSource> source = {};  // nothing: a model of ratings
};

// `labels`: of users, or where the question is about new users of these, and of items. The keys of `polyad
// recommend --json`; docs/json.md names them all.
nlohmann::ordered_json recommendation_json(const RecommendationRun& run, std::span<const ModeLabels> labels);

// The same as text: a table per user or item.
std::string recommendation_text(const RecommendationRun& run, std::span<const ModeLabels> labels);

}  // namespace polyad::report
