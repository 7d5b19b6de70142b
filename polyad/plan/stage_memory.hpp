#pragma once

#include <span>

#include "polyad/plan/format_choice.hpp"

namespace polyad {

// What stages of a run besides the iterations hold at once, in bytes, for predictions.

// While nonzeros as they were read, duplicates included, get local numbers and are sorted: `num_all` in all
// tensors of this process, `num_largest` in the largest of them.
Index sort_bytes(Index num_all, Index num_largest, int order);

// The factors with their padding, for so many rows in each mode.
Index factor_bytes(std::span<const Index> rows, Index num_components, Index value_bytes);
// At the end, besides the tensor and these: one factor a second time, without padding, or some rows at a time
// in both precisions and as text, whichever is larger; and for the process that reads the rows where they are
// found.
Index finish_bytes(std::span<const Index> rows, Index num_components, Index value_bytes);

// Adds to what stages hold that large arrays are made of whole huge pages. num_vectors: as long as all
// factors.
void add_page_bytes(FormatOption& option, Index num_vectors);

}  // namespace polyad
