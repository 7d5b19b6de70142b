#include "polyad/plan/strategy_memory.hpp"

#include <algorithm>
#include <numeric>

#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/plan/stage_memory.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

Index most(const std::vector<PartLoad>& parts, Index PartLoad::*count) {
  return (*std::ranges::max_element(parts, {}, count)).*count;
}

// Of each mode, copies of rows that lie ready for those who borrow them, and if they are padded those that
// travel without.
std::vector<Index> rows_under_way(const PartLoads& loads, Scheme scheme, bool are_padded) {
  std::vector<Index> result;
  for (const auto& parts : loads) {
    Index most = 0;
    for (const auto& part : parts) {
      const Index borrowed = part.local - part.owned;
      const Index lent = part.sent - (scheme == Scheme::coarse ? 0 : borrowed);
      most = std::max(most, lent + (are_padded ? std::max(borrowed, part.reduced) : 0));
    }
    result.push_back(most);
  }
  return result;
}

// Of the process that gets most, which had an equal share before.
Index max_while_moving(const PartLoads& loads, Scheme scheme) {
  const auto& parts = loads.front();
  if (parts.size() == 1) return 0;
  Index total = 0, received = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Index of_part = parts[p].nonzeros;
    if (scheme == Scheme::coarse)
      for (std::size_t m = 1; m < loads.size(); ++m) of_part += loads[m][p].nonzeros;
    received = std::max(received, of_part);
    total += parts[p].nonzeros;
  }
  return bytes_while_moving(total / std::ssize(parts) + 1, received, int(loads.size()));
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
    costs.emplace_back(shape, CostOptions{kernels::padded_components(num_components), run.value_bytes,
                                          run.threads, complete, run.machine});
  }
  const auto mode_order = natural_mode_order(int(loads.size()));
  auto formats = scheme == Scheme::coarse ? list_coarse_formats(costs, mode_order)
                                          : list_formats(costs.front(), mode_order);
  const Index numbers = num_vectors * std::accumulate(rows.begin(), rows.end(), Index(0)) *
                        kernels::padded_components(num_components);
  // With vectors, as of CP-OPT, all modes are under way at once.
  const auto under_way =
      rows_under_way(loads, scheme, num_components != kernels::padded_components(num_components));
  const Index max_under_way = num_vectors > 0 ? std::accumulate(under_way.begin(), under_way.end(), Index(0))
                                              : std::ranges::max(under_way);
  const Index finish = finish_bytes(rows, num_components, run.value_bytes);
  const Index factors = factor_bytes(rows, num_components, run.value_bytes);
  for (auto& option : formats) {
    const Index iterate = option.work_bytes + (numbers + max_under_way * num_components) * run.value_bytes;
    option.work_bytes = num_vectors > 0 ? iterate + finish : std::max(iterate, factors + finish);
    option.build_bytes = std::max(option.build_bytes, max_while_moving(loads, scheme));
    add_page_bytes(option, num_vectors);
  }
  if (const auto chosen = choose_format(formats, format, max_bytes)) return {chosen->peak_bytes(), true};
  return {std::ranges::min_element(formats, {}, &FormatOption::peak_bytes)->peak_bytes(), false};
}

}  // namespace polyad
