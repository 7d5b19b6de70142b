#pragma once

#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/row_owners.hpp"

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
// From what every part touches, ascending: the touched rows of part 0, then those of part 1, ...
RowParts invert_touched(std::span<const Index> touched, std::span<const Index> counts);

inline constexpr double greedy_tolerance = 0.05;  // above the mean load

// Owner of every row of `rows`, chosen greedily (docs/algorithms.md, "Distributions"): by decreasing
// number of parts, a row goes to the least loaded of its parts, or of all parts if that one exceeds the
// mean by `tolerance`. Load is the receive volume of the rows owned. Large numbers of rows are divided
// into random groups that are treated independently, so that no process needs to know all rows. Of equally
// loaded parts the first from first_part() on is taken, so that modes and groups do not all favour the same.
std::vector<int> own_greedily(const RowParts& rows, int num_parts, int mode,
                              double tolerance = greedy_tolerance);
int first_part(int mode, int group, int num_parts);

// The same where every process knows only what it touches; it learns the owners of that. Groups are worked on
// by one process each. Collective.
RowOwners own_greedily(const Comm& comm, std::span<const Index> touched, int mode);

}  // namespace polyad
