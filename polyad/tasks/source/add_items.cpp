#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "polyad/base/memory.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/tensors/rating_list.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/ratings/share_answer.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tasks/recommend.hpp"

namespace polyad {
namespace {

constexpr int mode_of_items = 1;
constexpr Index max_gaps = 1000000;  // items without ratings among the new ones

// Why an item cannot be added; where it is from is said by those who ask.
struct BadItem {
  std::string why;
};

// The items that a model will have, on process 0.
class ItemsToBe {
 public:
  explicit ItemsToBe(CompletionModel::State& model)
      : model_(model), labels_(model.labels[mode_of_items].labels), num_items_(model.run.num_items) {
    learned_.assign(std::size_t(num_items_), false);
    for (const Index item : model.ratings().indices(mode_of_items)) learned_[std::size_t(item)] = true;
  }

  bool has_labels() const { return model_.names().has_labels(mode_of_items); }
  Index num_items() const { return num_items_; }
  const std::vector<std::string>& labels() const { return labels_; }

  // The index of a new item with this label, each asked for once.
  Index labelled(const std::string& label) {
    const Index item = model_.names().find(mode_of_items, label);
    if (item == io::IndexSpace::several)
      throw BadItem{fmt::format("{} names more than one item of the model", io::in_quotes(label))};
    if (item != io::IndexSpace::no_index) return unlearned(item, io::in_quotes(label));
    labels_.push_back(label);
    return num_items_++;
  }

  // Of an item with this number, from 1.
  Index numbered(const std::string& text, Index num_new) {
    const auto number = io::parse_index(text);
    if (!number || *number < 1)
      throw BadItem{fmt::format("{} is no item: expected a number from 1", io::in_quotes(text))};
    if (*number <= model_.run.num_items) return unlearned(*number - 1, text);
    if (*number > model_.run.num_items + num_new + max_gaps)
      throw BadItem{fmt::format(
          "item {} is far beyond the {} of the model, which have no names: expected numbers up "
          "to {}",
          text, report::counted(model_.run.num_items, "item"), model_.run.num_items + num_new + max_gaps)};
    num_items_ = std::max(num_items_, *number);
    return *number - 1;
  }

  Index next() { return num_items_++; }

 private:
  Index unlearned(Index item, const std::string& name) const {
    if (learned_[std::size_t(item)])
      throw BadItem{fmt::format("item {} is not new: the model was trained on ratings of it", name)};
    return item;
  }

  CompletionModel::State& model_;
  std::vector<std::string> labels_;
  Index num_items_;
  std::vector<bool> learned_;
};

// Ratings by ascending user.
RatingsOfItem sorted_ratings(Index item, const NewItem& given, Index num_users) {
  if (given.users.size() != given.ratings.size())
    throw BadItem{fmt::format("expected as many ratings as users, found {} and {}", given.ratings.size(),
                              given.users.size())};
  if (given.users.empty()) throw BadItem{"it has no ratings"};
  std::map<Index, double> rated;
  for (std::size_t i = 0; i < given.users.size(); ++i) {
    if (given.users[i] < 0 || given.users[i] >= num_users)
      throw BadItem{fmt::format("user {} does not exist; the {} are counted from 0", given.users[i],
                                report::counted(num_users, "user"))};
    if (!std::isfinite(given.ratings[i])) throw BadItem{"a rating is not finite"};
    if (!rated.emplace(given.users[i], given.ratings[i]).second)
      throw BadItem{fmt::format("user {} rates it twice", given.users[i])};
  }
  RatingsOfItem sorted{item, {}, {}};
  for (const auto& [user, rating] : rated) {
    sorted.users.push_back(user);
    sorted.ratings.push_back(rating);
  }
  return sorted;
}

std::vector<RatingsOfItem> take_given(const std::vector<NewItem>& given, Index num_users, ItemsToBe& items) {
  std::vector<RatingsOfItem> taken;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < given.size(); ++i) try {
      const auto& label = given[i].label;
      if (items.has_labels() == label.empty())
        throw BadItem{label.empty() ? "it has no label, unlike those of the model"
                                    : "it has a label, unlike those of the model"};
      if (!label.empty() && !places.emplace(label, i).second)
        throw BadItem{fmt::format("new item {} has the same label", places[label])};
      const Index item = label.empty() ? items.next() : items.labelled(label);
      taken.push_back(sorted_ratings(item, given[i], num_users));
    } catch (const BadItem& bad) {
      tasks::refuse_option(fmt::format("new item {}, counted from 0: {}", i, bad.why));
    }
  return taken;
}

std::vector<RatingsOfItem> read_items(const std::filesystem::path& file, const io::IndexSpace& names,
                                      ItemsToBe& items) {
  auto lists = io::read_rating_lists(file, names, io::ListsOf::items);
  std::vector<RatingsOfItem> taken;
  std::map<Index, Index> lines;  // by item: 7 and 07 are the same number
  for (auto& [name, line, list] : lists) try {
      const Index item = items.has_labels() ? items.labelled(name) : items.numbered(name, std::ssize(lists));
      if (const auto [first, is_new] = lines.emplace(item, line); !is_new)
        throw BadItem{fmt::format("item {} is written in another way on line {}", name, first->second)};
      taken.push_back({item, std::move(list.items), std::move(list.ratings)});
    } catch (const BadItem& bad) {
      throw Error(Errc::bad_input, bad.why, {file.string(), line});
    }
  return taken;
}

// `take` finds the items on process 0. Collective.
template <class Take>
CompletionModel add_taken(const Context& context, const CompletionModel& model, Take take) {
  const tasks::TaskScope scope(context);
  auto& state = model.state();
  const Comm& comm = state.comm;
  const OneProcessWorks patience;
  state.gather();
  std::vector<RatingsOfItem> items;
  std::vector<std::string> labels;
  Index num_items = 0;
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    ItemsToBe all(state);
    items = take(all);
    labels = all.labels();
    num_items = all.num_items();
  });
  num_items = comm.broadcast(num_items, 0);
  tasks::share_texts(comm, labels);
  auto added = state.with_items(num_items, std::move(labels), items);
  added->note_memory();
  return CompletionModel(std::move(added));
}

}  // namespace

CompletionModel add_items(const Context& context, const CompletionModel& model,
                          const std::vector<NewItem>& items) {
  return add_taken(context, model, [&](ItemsToBe& all) { return take_given(items, model.num_users(), all); });
}

CompletionModel add_items_from(const Context& context, const CompletionModel& model,
                               const std::filesystem::path& file) {
  return add_taken(context, model,
                   [&](ItemsToBe& all) { return read_items(file, model.state().names(), all); });
}

}  // namespace polyad
