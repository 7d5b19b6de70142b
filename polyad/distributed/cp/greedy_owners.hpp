#pragma once

#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/distribution_options.hpp"
#include "polyad/distributed/cp/row_parts.hpp"
#include "polyad/distributed/row_owners.hpp"

namespace polyad {

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

// Owner of every row of `rows` by a rule, greedy or balanced, in the same groups.
std::vector<int> choose_owners(const RowParts& rows, int num_parts, int mode, RowRule rule);

// The same where every process has some of the rows, of which all processes together have a fraction: in the
// groups of all rows, each worked on by one process. Collective.
std::vector<int> choose_owners(const Comm& comm, const RowParts& rows, double fraction, int num_parts,
                               int mode, RowRule rule);

// The same where every process knows only what it touches; it learns the owners of that. Groups are worked on
// by one process each. Collective.
RowOwners choose_owners(const Comm& comm, std::span<const Index> touched, int mode, RowRule rule);

}  // namespace polyad
