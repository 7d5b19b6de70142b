#pragma once

#include <span>
#include <vector>

#include "polyad/distributed/cp/row_parts.hpp"

namespace polyad {

inline constexpr double balance_tolerance = 0.05;  // above the mean
// Partners are counted for up to this number of parts; a bit per pair of them takes up to 32 MiB.
inline constexpr int max_parts_with_partners = 16384;

// Owners of the rows of a group, by a rule that balances all that a part sends and saves messages
// (docs/algorithms.md, "Distributions"). By decreasing number of parts, a row goes to one of its parts: of
// those that would send and own no more rows than the limits, to that which gets the fewest new partners;
// if all exceed a limit, to that which sends least. A part sends a row for each row that it touches with
// others, and one more for each further part of a row that it owns. The limits are balance_tolerance above
// the mean, or what one part has already because of rows that it touches, or that nobody else touches.
// Of equal parts the first from `first` on is taken. Rows are numbers in `rows`; sets owners[row].
void own_balanced(const RowParts& rows, std::vector<Index> group, int num_parts, int first,
                  std::vector<int>& owners);

}  // namespace polyad
