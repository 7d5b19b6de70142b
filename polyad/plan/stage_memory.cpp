#include "polyad/plan/stage_memory.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "polyad/base/text_buffer.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/tensor/kruskal_rows.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {
namespace {

// Half a huge page for each array, on average, where arrays are so large that they have some.
Index page_bytes(Index bytes, Index num_arrays) {
  constexpr Index half = Index(1) << 20;
  return bytes >= num_arrays * half / 2 ? num_arrays * half : 0;
}

// The factors with their padding.
Index factor_bytes(std::span<const Index> rows, Index num_components, Index value_bytes) {
  const Index all = std::accumulate(rows.begin(), rows.end(), Index(0));
  return all * kernels::padded_components(num_components) * value_bytes;
}

// At the end, besides the tensor and the factors: one factor a second time, without padding, or some rows at
// a time in both precisions and as text, whichever is larger; and for the process that reads the rows where
// they are found.
Index finish_bytes(std::span<const Index> rows, Index num_components, Index value_bytes) {
  const Index all = std::accumulate(rows.begin(), rows.end(), Index(0));
  const bool is_padded = kernels::padded_components(num_components) != num_components;
  const Index copied = is_padded ? std::ranges::max(rows) * num_components : 0;
  constexpr Index number_bytes = 25;                                 // of a number as text
  constexpr Index text_bytes = max_text_bytes + max_text_bytes / 2;  // with what strings reserve in advance
  const Index at_once = std::min(all, rows_at_once(num_components)) * num_components;
  const Index written =
      at_once * (value_bytes + Index(sizeof(double))) + std::min(at_once * number_bytes, text_bytes);
  return std::max(copied * value_bytes, written) + all * Index(3 * sizeof(Index));
}

// Large arrays are made of whole huge pages.
void add_page_bytes(FormatOption& option, Index num_vectors) {
  const auto order = std::ssize(option.plan.mode_order);
  const Index of_format = std::max<Index>(order + 4, 2 * order * std::ssize(option.plan.trees));
  const Index of_work = order + 4 + num_vectors;
  const Index more = page_bytes(option.format_bytes, of_format);
  option.build_bytes += more + page_bytes(option.build_bytes, of_work);
  option.work_bytes += more + page_bytes(option.work_bytes, of_work);
}

// Of one mode at a time, or with vectors of all modes at once.
Index words_under_way(const StageNeeds& needs) {
  const auto& rows = needs.rows_under_way;
  if (rows.empty()) return 0;
  const Index at_once =
      needs.num_vectors > 0 ? std::accumulate(rows.begin(), rows.end(), Index(0)) : std::ranges::max(rows);
  return at_once * needs.num_components;
}

}  // namespace

Index sort_bytes(Index num_all, Index num_largest, int order) {
  const Index as_read = coordinate_bytes(order, 1, sizeof(double));
  const Index local = coordinate_bytes(order, 1, sizeof(double), sizeof(LocalIndex));
  constexpr Index bytes_of_column = sizeof(Index), bytes_of_keys = 2 * 16;  // keys with positions, twice
  const Index more = std::max(bytes_of_column, local + bytes_of_keys - as_read);
  return num_all * as_read + num_largest * more;
}

void add_stage_bytes(FormatOption& option, const StageNeeds& needs) {
  const Index factors = factor_bytes(needs.rows, needs.num_components, needs.value_bytes);
  const Index finish = finish_bytes(needs.rows, needs.num_components, needs.value_bytes);
  const Index iterate =
      option.work_bytes + needs.num_vectors * factors + words_under_way(needs) * needs.value_bytes;
  // Vectors live to the end; of what ALS works with only the factors do.
  option.work_bytes = needs.num_vectors > 0 ? iterate + finish : std::max(iterate, factors + finish);
  option.work_bytes = std::max(option.work_bytes, needs.start_bytes) + needs.extra_bytes;
  option.build_bytes = std::max(option.build_bytes, needs.moved_bytes) + needs.extra_bytes;
  add_page_bytes(option, needs.num_vectors);
  option.build_bytes = std::max(option.build_bytes, needs.read_bytes);
}

}  // namespace polyad
