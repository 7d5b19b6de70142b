#pragma once

#include <vector>

#include "polyad/plan/format_choice.hpp"

namespace polyad {

// Memory of the stages of a run other than the iterations, in bytes, for predictions.

// While nonzeros as they were read, duplicates included, get local numbers and are sorted: `num_all` in all
// tensors of this process, `num_largest` in the largest of them.
Index sort_bytes(Index num_all, Index num_largest, int order);

// What a process holds in the stages of a run besides the nonzeros in their format and what kernels work
// with.
struct StageNeeds {
  std::vector<Index> rows = {};  // [mode]: of the factors on this process
  Index num_components = 1, value_bytes = 8;
  // [mode]: rows of which there are copies while they are exchanged with other processes.
  std::vector<Index> rows_under_way = {};
  Index num_vectors = 0;  // as long as all factors and alive to the end, as CP-OPT has them; ALS: none
  Index moved_bytes = 0;  // while nonzeros are moved to their owners and sorted, before the format is built
  Index start_bytes = 0;  // while initial factors are computed, besides the nonzeros in their format
  Index extra_bytes = 0;  // all the time, such as labels
  Index read_bytes = 0;   // while the tensor was read
};

// Adds the stages to the bytes of a format, of which FormatOption::peak_bytes is the largest. This is the one
// rule for the memory of a run: for predictions from counts (memory_need), and from the nonzeros that a
// process holds (prepare).
void add_stage_bytes(FormatOption& option, const StageNeeds& needs);

}  // namespace polyad
