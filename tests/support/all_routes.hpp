#pragma once

#include <span>
#include <utility>
#include <vector>

#include "polyad/distributed/cp/routed_plan.hpp"
#include "polyad/distributed/cp/row_parts.hpp"

namespace polyad::test {

// The plans of all processes, from the processes that touch and that own each row: what plan_routes does on
// many processes, in one program.
inline std::vector<ExchangePlan> plan_all_routes(const RowParts& rows, const std::vector<int>& owners,
                                                 const VirtualTopology& topology) {
  const auto num_ranks = std::size_t(topology.num_ranks());
  std::vector<Array<Index>> touched(num_ranks);
  for (Index i = 0; i < rows.num_rows(); ++i)
    for (const int rank : rows.of(i)) touched[rank].push_back(rows.rows[i]);
  const RowOwners owner = ListedRows{rows.rows, owners};
  std::vector<RoutePlanner> planners;
  for (std::size_t rank = 0; rank < num_ranks; ++rank)
    planners.emplace_back(topology, int(rank), touched[rank], owner);
  for (int s = 0; s < topology.num_stages(); ++s) {
    std::vector<std::vector<std::pair<int, OwnedRow>>> arriving(num_ranks);  // with their senders
    for (std::size_t rank = 0; rank < num_ranks; ++rank) {
      const auto leaving = planners[rank].next_stage();
      auto at = leaving.rows.begin();
      for (std::size_t to = 0; to < num_ranks; ++to)
        for (Index i = 0; i < leaving.counts[to]; ++i) arriving[to].emplace_back(int(rank), *at++);
    }
    for (std::size_t rank = 0; rank < num_ranks; ++rank) {
      std::vector<OwnedRow> taken;
      std::vector<Index> counts(num_ranks, 0);
      for (const auto& [from, row] : arriving[rank]) {
        taken.push_back(row);
        ++counts[from];
      }
      planners[rank].take(taken, counts);
    }
  }
  std::vector<ExchangePlan> plans;
  for (const auto& planner : planners) plans.push_back(planner.plan());
  return plans;
}

}  // namespace polyad::test
