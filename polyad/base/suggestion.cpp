#include "polyad/base/suggestion.hpp"

#include <algorithm>
#include <utility>

namespace polyad {
namespace {

// Letters that must be added, removed, replaced or exchanged with the next to make one word of the other.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> older(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    older = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], older[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t fewest = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const auto& name : names)
    if (const auto distance = edit_distance(word, name); distance < fewest) {
      fewest = distance;
      nearest = name;
    }
  return nearest.empty() ? "" : " (did you mean " + nearest + "?)";
}

}  // namespace polyad
