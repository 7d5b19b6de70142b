#include "polyad/tasks/detail/process_counts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "polyad/base/error.hpp"

namespace polyad::tasks {

void check_counts(const std::string& field, const std::vector<int>& counts, int largest) {
  constexpr std::size_t max_counts = 100;
  const bool are_in_range = std::ranges::all_of(counts, [&](int n) { return n >= 1 && n <= largest; });
  if (!counts.empty() && counts.size() <= max_counts && are_in_range) return;
  throw Error(Errc::bad_option,
              fmt::format("{} {{{}}}: expected 1 to {} numbers, each from 1 to {}", option_name(field),
                          fmt::join(counts, ", "), max_counts, largest));
}

std::vector<int> ascending(std::vector<int> counts) {
  std::ranges::sort(counts);
  const auto repeated = std::ranges::unique(counts);
  counts.erase(repeated.begin(), repeated.end());
  return counts;
}

}  // namespace polyad::tasks
