#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyad/tasks/completion_model.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/cp_model.hpp"
#include "polyad/tasks/task_result.hpp"

namespace polyad {

// Some ratings of one user: that of item items[i] is ratings[i]. In any order, each item once.
struct UserRatings {
  std::vector<Index> items = {};  // counted from 0
  std::vector<double> ratings = {};
};

// The ratings of an item that the model has learned nothing about: that of user users[i] is ratings[i]. In
// any order, each user once.
struct NewItem {
  std::string label = {};         // where items have labels
  std::vector<Index> users = {};  // of the model, counted from 0
  std::vector<double> ratings = {};
};

// All that is known of a user now: the rating of item items[i] is ratings[i]. In any order, each item once;
// none: the user is forgotten.
struct UpdatedUser {
  Index user = 0;          // counted from 0, also behind those of the model; of users without labels
  std::string label = {};  // where users have labels: of the model, or a new one
  UserRatings rated = {};
};

// A place of a mode: a label, or a number counted from 1 where the mode has no labels.
struct ModePlace {
  std::string mode;  // its name, or its number counted from 1
  std::string place;
};

// What is wanted: exactly one of recommendations to users, to all users, to a new user or to new users, and
// similar items or users.
struct RecommendOptions {
  std::vector<Index> users = {};  // recommend to these, counted from 0
  // Recommend to these as well: labels, or numbers counted from 1 where users have no labels.
  std::vector<std::string> user_names = {};
  bool all_users = false;     // recommend to every user that has ratings
  UserRatings new_user = {};  // recommend to a user who is not in the model and has these ratings
  std::filesystem::path new_user_file = {};  // the same; each line has the name of an item, and the rating
  // Recommend to many users who are not in the model: each line has a user, an item and a rating. The names
  // of the users may be any, also those of users of the model, whose training ratings then do not count.
  std::filesystem::path new_users_file = {};
  // Add items to the model before, as add_items_from does (default: none): with the request they may be
  // recommended, found to be similar, and named.
  std::filesystem::path new_items_file = {};
  std::vector<Index> similar_items = {};             // find the items most similar to these, counted from 0
  std::vector<std::string> similar_item_names = {};  // and to these, named like users
  std::vector<Index> similar_users = {};             // find the users most similar to these, counted from 0
  std::vector<std::string> similar_user_names = {};  // and to these
  // By which model items are ranked and compared. automatic: by the one for lists, if there is one. With
  // `ranking` it must be there; `ratings` is refused for a model of implicit feedback.
  ListsBy lists = ListsBy::automatic;
  // Similar items and users: the cosine of one with n ratings is multiplied by n / (n + support); from 0.
  double support = 5;
  Index top = 10;           // the largest number of items in each list, from 1 to 1000000
  bool with_rated = false;  // whether items that the user has rated are recommended too
  // Only these items are in the lists, counted from 0, and those in the file, which names one per line; both
  // empty: all. Items of the file that the model does not have are left out, with a warning.
  std::vector<Index> candidates = {};
  std::filesystem::path candidates_file = {};
  // These items are in no list; like `candidates`.
  std::vector<Index> exclude = {};
  std::filesystem::path exclude_file = {};
  // Also write predicted ratings to this table, .tsv or .csv, or either of them with .gz; empty: do not. With
  // all_users and new_users_file the lists are then written one after the other and not kept in memory.
  std::filesystem::path out = {};

  // The rest is for CP models. Recommend at these places, at most one of each mode but those of users and
  // items. A mode that is not named is averaged over: the mean of the model over its slices that are not
  // empty.
  std::vector<ModePlace> at = {};
  // The modes of users and of items: names, or numbers counted from 1 (default: the first two modes; where
  // one is named, the first of the others).
  std::string user_mode = {}, item_mode = {};
  // What users have already, and is left out unless `with_rated`: the tensor that was decomposed, or a table
  // with columns of users and items. Users and items that the model does not have are no error (default: no
  // file, and nothing is left out).
  std::filesystem::path known_file = {};
  // Tables in `known_file`: the columns of users and of items, by name or number, as in "user,item"
  // (default: those with the names of the modes).
  std::string columns = {};
};

struct RecommendedItem {
  Index item = 0;     // counted from 0; of similar users: the user
  std::string label;  // empty where items, or users, have no labels
  // The predicted rating, or where lists are by ranking the preference; the similarity of similar items and
  // users.
  double score = 0;
  double cosine = 0;      // of similar items and users: of the angle between factors
  Index num_ratings = 0;  // of similar items and users, in the training
};

// Items by descending score.
struct RecommendationList {
  // The user that it is for, or the item or user that the others are similar to. Of new users in a file: the
  // place among them, counted from 0. Nothing: the only new user.
  std::optional<Index> of;
  std::string label;      // of that user or item
  Index num_ratings = 0;  // of the user
  std::vector<RecommendedItem> items;
};

class Recommendations : public TaskResult {
 public:
  Recommendations(TaskResult texts, std::vector<RecommendationList> lists, Index num_lists, Index num_items)
      : TaskResult(std::move(texts)),
        lists_(std::move(lists)),
        num_lists_(num_lists),
        num_items_(num_items) {}

  // In the order in which they were asked for; empty when the lists of all or new users were written to a
  // table.
  const std::vector<RecommendationList>& lists() const { return lists_; }
  // The number of lists, those in the table included, and of items in all of them together.
  Index num_lists() const { return num_lists_; }
  Index num_items() const { return num_items_; }

 private:
  std::vector<RecommendationList> lists_;
  Index num_lists_, num_items_;
};

// Throws Error{bad_option} for options that make no sense whatever the model.
void validate(const RecommendOptions& options);

// The model with items that it has no training ratings of: their rows and biases are those that the training
// would find with the users fixed, in the model of ratings and in that for lists. It has their ratings too,
// as if they had been learned from, and can be saved. The given model stays as it is. An item whose label the
// model has already, without ratings, gets a row; others come behind those of the model, in their order.
// Throws Error{bad_option} for an item with ratings in the training, an empty label, a label where items have
// none, and users that the model does not have. The arguments are those of process 0. Collective.
CompletionModel add_items(const Context& context, const CompletionModel& model,
                          const std::vector<NewItem>& items);

// The same for the ratings in a file: a user, an item and a rating per line. Where items have no labels they
// are numbers from 1, and numbers between that no line has become items without ratings. Throws
// Error{bad_input} that names the line.
CompletionModel add_items_from(const Context& context, const CompletionModel& model,
                               const std::filesystem::path& file);

// The model with other ratings of some users, or with further users: their rows and biases are those that the
// training would find with the items fixed, as for new users of recommend(). It has these ratings in place of
// those that they had, and can be saved. The given model stays as it is. New labels come behind those of the
// model, in their order; numbers between that nobody has become users without ratings. Throws
// Error{bad_option} for a user that is given twice, items that the model does not have, a missing label, and
// a label where users have none. The arguments are those of process 0. Collective.
CompletionModel update_users(const Context& context, const CompletionModel& model,
                             const std::vector<UpdatedUser>& users);

// The items with the highest predicted ratings for users, or the items or users most similar to others. Items
// that have no rating in the training are left out. Ratings of a new user are folded in: factors are found
// that minimise the loss of the training over them, with the items as they are. Process 0 computes, and all
// get the lists. Throws Error{bad_option} for users and items that the model does not have. Collective.
Recommendations recommend(const Context& context, const CompletionModel& model,
                          const RecommendOptions& options);

// The same by a CP model of users x items, or of users x items x other modes: scores are values of the model.
// Similar items and users are those of the factors, multiplied by the roots of the components' weights; they
// require known_file, which has the numbers of ratings, or a support of 0. New users are refused.
Recommendations recommend(const Context& context, const CpModel& model, const RecommendOptions& options);

// The same by a model in files of either kind.
Recommendations recommend(const Context& context, const std::filesystem::path& model,
                          const RecommendOptions& options);

}  // namespace polyad
