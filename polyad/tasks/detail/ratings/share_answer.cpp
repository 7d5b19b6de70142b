#include "polyad/tasks/detail/ratings/share_answer.hpp"

#include <optional>
#include <span>
#include <utility>

namespace polyad::tasks {
namespace {

// The lists of process 0, one after the other, on all. Collective.
template <class Entry>
std::vector<std::vector<Entry>> share_lists(const Comm& comm,
                                            std::span<const std::vector<Entry>* const> own) {
  std::vector<Index> lengths;
  std::vector<Entry> entries;
  for (const auto* list : own) {
    lengths.push_back(std::ssize(*list));
    entries.insert(entries.end(), list->begin(), list->end());
  }
  comm.broadcast(lengths, 0);
  comm.broadcast(entries, 0);
  std::vector<std::vector<Entry>> all;
  auto next = entries.begin();
  for (const Index length : lengths) {
    all.emplace_back(next, next + length);
    next += length;
  }
  return all;
}

}  // namespace

void share_texts(const Comm& comm, std::vector<std::string>& texts) {
  std::vector<std::vector<char>> own;
  std::vector<const std::vector<char>*> lists;
  for (const auto& text : texts) own.emplace_back(text.begin(), text.end());
  for (const auto& text : own) lists.push_back(&text);
  texts.clear();
  for (const auto& text : share_lists<char>(comm, lists)) texts.emplace_back(text.begin(), text.end());
}

void share_answer(const Comm& comm, report::RecommendationRun& run) {
  if (comm.size() == 1) return;
  struct Head {
    Index of = -1, num_rated = 0;
  };
  std::vector<Head> heads;
  std::vector<const ScoredItems*> items;
  std::vector<const SimilarRows*> rows;
  for (const auto& one : run.recommendations) {
    heads.push_back({one.user.value_or(-1), one.num_rated});
    items.push_back(&one.items);
  }
  for (const auto& one : run.similar) {
    heads.push_back({one.of, 0});
    rows.push_back(&one.rows);
  }
  comm.broadcast(heads, 0);
  auto all_items = share_lists<ScoredItem>(comm, items);
  auto all_rows = share_lists<SimilarRow>(comm, rows);
  for (Index* count : {&run.num_rated_items, &run.num_candidates, &run.num_answered, &run.num_lines})
    *count = comm.broadcast(*count, 0);
  if (comm.rank() == 0) return;
  for (std::size_t i = 0; i < all_items.size(); ++i)
    run.recommendations.push_back({heads[i].of < 0 ? std::nullopt : std::optional(heads[i].of),
                                   heads[i].num_rated, std::move(all_items[i])});
  for (std::size_t i = 0; i < all_rows.size(); ++i)
    run.similar.push_back({heads[i].of, std::move(all_rows[i])});
}

}  // namespace polyad::tasks
