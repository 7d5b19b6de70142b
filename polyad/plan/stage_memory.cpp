#include "polyad/plan/stage_memory.hpp"

#include <algorithm>
#include <numeric>

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

}  // namespace

Index sort_bytes(Index num_all, Index num_largest, int order) {
  const Index as_read = coordinate_bytes(order, 1, sizeof(double));
  const Index local = coordinate_bytes(order, 1, sizeof(double), sizeof(LocalIndex));
  constexpr Index bytes_of_column = sizeof(Index), bytes_of_keys = 2 * 16;  // keys with positions, twice
  const Index more = std::max(bytes_of_column, local + bytes_of_keys - as_read);
  return num_all * as_read + num_largest * more;
}

Index factor_bytes(std::span<const Index> rows, Index num_components, Index value_bytes) {
  const Index all = std::accumulate(rows.begin(), rows.end(), Index(0));
  return all * kernels::padded_components(num_components) * value_bytes;
}

Index finish_bytes(std::span<const Index> rows, Index num_components, Index value_bytes) {
  const Index all = std::accumulate(rows.begin(), rows.end(), Index(0));
  const bool is_padded = kernels::padded_components(num_components) != num_components;
  const Index copied = is_padded ? std::ranges::max(rows) * num_components : 0;
  constexpr Index number_bytes = 25, text_bytes = Index(6) << 20;  // of a number as text; held at a time
  const Index at_once = std::min(all, rows_at_once(num_components)) * num_components;
  const Index written =
      at_once * (value_bytes + Index(sizeof(double))) + std::min(at_once * number_bytes, text_bytes);
  return std::max(copied * value_bytes, written) + all * Index(3 * sizeof(Index));
}

void add_page_bytes(FormatOption& option, Index num_vectors) {
  const auto order = std::ssize(option.plan.mode_order);
  const Index of_format = std::max<Index>(order + 4, 2 * order * std::ssize(option.plan.trees));
  const Index of_work = order + 4 + num_vectors;
  const Index more = page_bytes(option.format_bytes, of_format);
  option.build_bytes += more + page_bytes(option.build_bytes, of_work);
  option.work_bytes += more + page_bytes(option.work_bytes, of_work);
}

}  // namespace polyad
