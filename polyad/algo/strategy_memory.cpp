#include "polyad/algo/strategy_memory.hpp"

#include <algorithm>
#include <numeric>

#include "polyad/kernels/factor.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

Index most(const std::vector<PartLoad>& parts, Index PartLoad::*count) {
  return (*std::ranges::max_element(parts, {}, count)).*count;
}

}  // namespace

MemoryNeed memory_need(const PartLoads& loads, Scheme scheme, Index num_components, Index max_bytes,
                       const std::string& format, const CostOptions& run, Index num_vectors) {
  std::vector<Index> rows;
  for (const auto& parts : loads) rows.push_back(std::max<Index>(1, most(parts, &PartLoad::local)));
  // How many rows are complete where they are summed is not known: as if none were.
  const std::vector<double> complete(loads.size(),
                                     scheme == Scheme::coarse || loads.front().size() == 1 ? 1 : 0);
  std::vector<AlsCost> costs;
  for (const auto& parts : loads) {
    TensorShape shape{rows, most(parts, &PartLoad::nonzeros), {}, 0};
    shape.num_blocks = double(shape.num_nonzeros);
    costs.emplace_back(
        shape, CostOptions{padded_components(num_components), run.value_bytes, run.threads, complete});
  }
  const auto mode_order = natural_mode_order(int(loads.size()));
  auto formats = scheme == Scheme::coarse ? list_coarse_formats(costs, mode_order)
                                          : list_formats(costs.front(), mode_order);
  const Index numbers =
      num_vectors * std::accumulate(rows.begin(), rows.end(), Index(0)) * padded_components(num_components);
  for (auto& option : formats) option.work_bytes += numbers * run.value_bytes;
  if (const auto chosen = choose_format(formats, format, max_bytes)) return {chosen->peak_bytes(), true};
  return {std::ranges::min_element(formats, {}, &FormatOption::peak_bytes)->peak_bytes(), false};
}

}  // namespace polyad
