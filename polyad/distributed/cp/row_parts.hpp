#pragma once

#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// Rows, ascending, and the parts that touch each: those of row i are parts[begin[i]], ..., parts[begin[i+1] -
// 1], ascending (Lambda in docs/algorithms.md).
struct RowParts {
  Array<Index> rows;
  std::vector<Index> begin;
  std::vector<int> parts;

  Index num_rows() const { return std::ssize(rows); }
  std::span<const int> of(Index i) const {
    return std::span(parts).subspan(std::size_t(begin[i]), std::size_t(begin[i + 1] - begin[i]));
  }
};

}  // namespace polyad
