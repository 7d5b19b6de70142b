#pragma once

#include <algorithm>
#include <iterator>
#include <span>

#include "polyad/base/array.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// Sorted, and each of them once.
inline Array<Index> distinct_rows(std::span<const Index> rows) {
  Array<Index> sorted(rows.begin(), rows.end());
  std::ranges::sort(sorted);
  const auto repeated = std::ranges::unique(sorted);
  sorted.erase(repeated.begin(), repeated.end());
  return sorted;
}

// Of sorted lists.
inline Array<Index> rows_without(std::span<const Index> rows, std::span<const Index> without) {
  Array<Index> rest;
  std::ranges::set_difference(rows, without, std::back_inserter(rest));
  return rest;
}

}  // namespace polyad
