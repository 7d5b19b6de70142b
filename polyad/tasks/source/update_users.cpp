#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/ratings/share_answer.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tasks/recommend.hpp"

namespace polyad {
namespace {

constexpr int mode_of_users = 0;
constexpr Index max_user_gaps = 1000000;  // users without ratings among the new ones

// The users that a model will have, on process 0.
struct UsersToBe {
  std::vector<RatingsOfUser> changed;
  std::vector<std::string> labels;
  Index count = 0;
};

[[noreturn]] void refuse_user(std::size_t place, const std::string& why) {
  tasks::refuse_option(fmt::format("user {} of those that are given, counted from 0: {}", place, why));
}

Index labelled_user(CompletionModel::State& model, UsersToBe& users, const std::string& label,
                    std::size_t place) {
  const Index user = model.names().find(mode_of_users, label);
  if (user == io::IndexSpace::several)
    refuse_user(place, fmt::format("{} names more than one user of the model", io::in_quotes(label)));
  if (user != io::IndexSpace::no_index) return user;
  const auto behind = users.labels.begin() + model.run.num_users;
  const auto known = std::find(behind, users.labels.end(), label);
  if (known == users.labels.end()) {
    users.labels.push_back(label);
    return users.count++;
  }
  return known - users.labels.begin();
}

Index numbered_user(UsersToBe& users, Index user, Index largest, std::size_t place) {
  if (user < 0 || user > largest)
    refuse_user(place, fmt::format("number {}: expected one from 0 to {}", user, largest));
  users.count = std::max(users.count, user + 1);
  return user;
}

RatingsOfUser sorted_list(Index user, const UserRatings& rated, Index num_items, std::size_t place) {
  if (rated.items.size() != rated.ratings.size())
    refuse_user(place, fmt::format("expected as many ratings as items, found {} and {}", rated.ratings.size(),
                                   rated.items.size()));
  std::map<Index, double> by_item;
  for (std::size_t i = 0; i < rated.items.size(); ++i) {
    const Index item = rated.items[i];
    if (item < 0 || item >= num_items)
      refuse_user(place, fmt::format("item {} does not exist; the {} are counted from 0", item,
                                     report::counted(num_items, "item")));
    if (!std::isfinite(rated.ratings[i])) refuse_user(place, "a rating is not finite");
    if (!by_item.emplace(item, rated.ratings[i]).second)
      refuse_user(place, fmt::format("item {} is rated twice", item));
  }
  RatingsOfUser list{user, {}, {}};
  for (const auto& [item, rating] : by_item) {
    list.items.push_back(item);
    list.ratings.push_back(rating);
  }
  return list;
}

UsersToBe take_users(CompletionModel::State& model, const std::vector<UpdatedUser>& given) {
  UsersToBe users{{}, model.labels[mode_of_users].labels, model.run.num_users};
  const bool has_labels = model.names().has_labels(mode_of_users);
  std::map<Index, std::size_t> places;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& label = given[i].label;
    if (has_labels == label.empty())
      refuse_user(i, label.empty() ? "expected a label, as users of the model have them"
                                   : "expected a number, as users of the model have no labels");
    const Index largest = model.run.num_users + std::ssize(given) + max_user_gaps;
    const Index user =
        has_labels ? labelled_user(model, users, label, i) : numbered_user(users, given[i].user, largest, i);
    if (const auto [first, is_new] = places.emplace(user, i); !is_new)
      refuse_user(i, fmt::format("it is the same as user {}", first->second));
    users.changed.push_back(sorted_list(user, given[i].rated, model.run.num_items, i));
  }
  return users;
}

}  // namespace

CompletionModel update_users(const Context& context, const CompletionModel& model,
                             const std::vector<UpdatedUser>& users) {
  const tasks::TaskScope scope(context);
  auto& state = model.state();
  const Comm& comm = state.comm;
  const OneProcessWorks patience;
  state.gather();
  auto all = collectively(comm, [&] { return comm.rank() == 0 ? take_users(state, users) : UsersToBe{}; });
  all.count = comm.broadcast(all.count, 0);
  tasks::share_texts(comm, all.labels);
  auto updated = state.with_users(all.count, std::move(all.labels), all.changed);
  updated->note_memory();
  return CompletionModel(std::move(updated));
}

}  // namespace polyad
