#include "polyad/plan/strategy_memory.hpp"

#include <algorithm>

#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/plan/plan_evaluation.hpp"
#include "polyad/plan/stage_memory.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

Index maximum(const std::vector<PartLoad>& parts, Index PartLoad::*count) {
  return (*std::ranges::max_element(parts, {}, count)).*count;
}

// Of each mode, copies of rows that lie ready for those who borrow them, and of those that travel: without
// padding, or to where neighbours read them.
std::vector<Index> rows_under_way(const PartLoads& loads, Scheme scheme, bool are_padded) {
  std::vector<Index> result;
  for (const auto& parts : loads) {
    Index maximum = 0;
    for (const auto& part : parts) {
      const Index borrowed = part.local - part.owned;
      const Index folded = scheme == Scheme::coarse ? 0 : borrowed;
      const Index lent = part.sent - folded;
      maximum = std::max(maximum, lent + (are_padded ? std::max(borrowed, part.reduced) : folded));
    }
    result.push_back(maximum);
  }
  return result;
}

// Of the process that gets most, which had an equal share before.
Index max_while_moving(const PartLoads& loads, Scheme scheme) {
  const auto& parts = loads.front();
  if (loads.num_parts() == 1) return 0;
  Index total = 0, received = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Index of_part = parts[p].nonzeros;
    if (scheme == Scheme::coarse)
      for (std::size_t m = 1; m < loads.size(); ++m) of_part += loads[m][p].nonzeros;
    received = std::max(received, of_part);
    total += parts[p].nonzeros;
  }
  return bytes_while_moving(total / loads.num_parts() + 1, received, int(loads.size()));
}

}  // namespace

MemoryNeed memory_need(const PartLoads& loads, Scheme scheme, Index num_components, Index max_bytes,
                       const std::string& format, const CostOptions& run, Index num_vectors) {
  std::vector<Index> rows;
  for (const auto& parts : loads) rows.push_back(std::max<Index>(1, maximum(parts, &PartLoad::local)));
  // How many rows are complete where they are summed is not known: as if none were.
  // With vectors of CP-OPT, none is updated where it is summed.
  const bool is_opt = num_vectors > 0;
  const std::vector<double> complete(loads.size(),
                                     !is_opt && (scheme == Scheme::coarse || loads.num_parts() == 1) ? 1 : 0);
  const auto cost_of = [&](const std::vector<PartLoad>& parts, bool keeps_sums) {
    TensorShape shape{rows, maximum(parts, &PartLoad::nonzeros), {}, 0};
    shape.num_blocks = double(shape.num_nonzeros);
    return AlsCost(shape, {kernels::padded_components(num_components), run.value_bytes, run.threads, complete,
                           keeps_sums, run.machine});
  };
  std::vector<AlsCost> costs;
  for (const auto& parts : loads) costs.push_back(cost_of(parts, false));
  const auto mode_order = natural_mode_order(int(loads.size()));
  auto formats = scheme == Scheme::coarse
                     ? list_coarse_formats(costs, mode_order)
                     : list_formats(costs.front(), mode_order, is_opt ? plan_evaluation : plan_csf);
  StageNeeds needs{.rows = rows, .num_components = num_components, .value_bytes = run.value_bytes};
  needs.rows_under_way =
      rows_under_way(loads, scheme, num_components != kernels::padded_components(num_components));
  needs.num_vectors = num_vectors;
  needs.moved_bytes = max_while_moving(loads, scheme);
  // How many sums are kept is not known either: as many as may be, but where memory is limited.
  const bool keeps_sums = !is_opt && scheme != Scheme::coarse && loads.num_parts() > 1 && max_bytes == 0;
  for (auto& option : formats) {
    if (keeps_sums && option.format == Format::csf)
      option.work_bytes += cost_of(loads.front(), true).max_kept_bytes();
    add_stage_bytes(option, needs);
  }
  if (const auto chosen = choose_format(formats, format, max_bytes)) return {chosen->peak_bytes(), true};
  return {std::ranges::min_element(formats, {}, &FormatOption::peak_bytes)->peak_bytes(), false};
}

}  // namespace polyad
