#include "polyad/distributed/cp/routed_plan.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <string>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/distributed/cp/row_sets.hpp"

namespace polyad {
namespace {

using Peer = ExchangePlan::Peer;
using RowsOfPeers = RoutePlanner::RowsOfPeers;
using StageRows = RoutePlanner::StageRows;

Array<Index> of_all_stages(const std::vector<StageRows>& stages, RowsOfPeers StageRows::*which) {
  Array<Index> all;
  for (const auto& stage : stages) {
    const auto& rows = (stage.*which).rows;
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return distinct_rows(all);
}

// Finds local rows by global ones.
class RowFinder {
 public:
  explicit RowFinder(const Array<Index>& rows) : rows_(rows), by_row_(rows.size()) {
    std::iota(by_row_.begin(), by_row_.end(), LocalIndex(0));
    std::ranges::sort(by_row_, {}, [&](LocalIndex local) { return rows_[local]; });
  }
  LocalIndex operator()(Index row) const {
    return *std::ranges::lower_bound(by_row_, row, {}, [&](LocalIndex local) { return rows_[local]; });
  }

 private:
  const Array<Index>& rows_;
  Array<LocalIndex> by_row_;
};

std::vector<Peer> moved_by(std::vector<Peer> peers, Index offset) {
  for (auto& peer : peers) peer.begin += offset, peer.end += offset;
  return peers;
}

// The plan of a process that touches these rows, ascending.
ExchangePlan assemble(std::span<const Index> touched, const std::vector<StageRows>& stages) {
  ExchangePlan plan;
  const auto passed_on = of_all_stages(stages, &StageRows::passed_on);
  const auto taken = of_all_stages(stages, &StageRows::taken);
  plan.rows = rows_without(rows_without(touched, passed_on), taken);
  plan.num_interior = std::ssize(plan.rows);
  const auto lent = rows_without(taken, passed_on);
  plan.rows.insert(plan.rows.end(), lent.begin(), lent.end());
  plan.num_owned = std::ssize(plan.rows);
  // What is passed on first comes last, so that the rows of every stage are those before.
  std::vector<Index> num_kept(stages.size());
  for (std::size_t s = stages.size(); s-- > 0;) {
    num_kept[s] = std::ssize(plan.rows);
    const auto& rows = stages[s].passed_on.rows;
    plan.rows.insert(plan.rows.end(), rows.begin(), rows.end());
  }
  if (plan.num_local() > max_local_index)
    throw Error(Errc::resource, "a process needs " + std::to_string(plan.num_local()) +
                                    " rows of a mode, with those that it passes on; it can hold " +
                                    std::to_string(max_local_index));
  const RowFinder local(plan.rows);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto& [to_owners, from_borrowers] = stages[s];
    auto& stage = plan.stages.emplace_back();
    stage.num_rows_of_plan = num_kept[s] + std::ssize(to_owners.rows);
    stage.num_owned = num_kept[s];
    stage.num_interior = plan.num_interior;
    stage.lenders = moved_by(to_owners.peers, num_kept[s]);
    stage.borrowers = from_borrowers.peers;
    for (const Index row : from_borrowers.rows) stage.lent.push_back(local(row));
  }
  return plan;
}

RowsOfPeers by_peers(std::span<const OwnedRow> rows, std::span<const Index> counts) {
  RowsOfPeers result;
  Index end = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] > 0) result.peers.push_back({int(rank), end, end + counts[rank]});
    end += counts[rank];
  }
  for (const auto& row : rows) result.rows.push_back(row.row);
  return result;
}

}  // namespace

VirtualTopology topology_for(const Distribution& distribution, int mode, int num_stages) {
  std::vector<int> layer;
  if (distribution.grid)
    for (int rank = 0; rank < distribution.num_parts; ++rank)
      layer.push_back(distribution.grid->coord(rank, mode));
  return {distribution.num_parts, num_stages, layer, distribution.machines};
}

RoutePlanner::RoutePlanner(const VirtualTopology& topology, int rank, std::span<const Index> touched,
                           const RowOwners& owners)
    : topology_(topology), rank_(rank), touched_(touched) {
  for (const Index row : touched) held_.push_back({row, owners(row)});
}

RoutePlanner::Leaving RoutePlanner::next_stage() {
  const int stage = int(stages_.size());
  std::vector<std::pair<int, OwnedRow>> leaving;
  std::erase_if(held_, [&](const OwnedRow& row) {
    const int to = topology_.next(rank_, row.owner, stage);
    if (to != rank_) leaving.emplace_back(to, row);
    return to != rank_;
  });
  std::ranges::sort(leaving);
  Leaving result{{}, std::vector<Index>(std::size_t(topology_.num_ranks()), 0)};
  for (const auto& [to, row] : leaving) {
    ++result.counts[to];
    result.rows.push_back(row);
  }
  stages_.push_back({by_peers(result.rows, result.counts), {}});
  return result;
}

void RoutePlanner::take(std::span<const OwnedRow> rows, std::span<const Index> counts) {
  stages_.back().taken = by_peers(rows, counts);
  held_.insert(held_.end(), rows.begin(), rows.end());
  std::ranges::sort(held_);
  const auto repeated = std::ranges::unique(held_);
  held_.erase(repeated.begin(), repeated.end());
}

ExchangePlan RoutePlanner::plan() const {
  return assemble(touched_, stages_);
}

ExchangePlan plan_routes(const Comm& comm, std::span<const Index> touched, const RowOwners& owners,
                         const VirtualTopology& topology) {
  assert(comm.size() == topology.num_ranks());
  RoutePlanner planner(topology, comm.rank(), touched, owners);
  for (int s = 0; s < topology.num_stages(); ++s) {
    const auto leaving = planner.next_stage();
    const auto counts = comm.exchange_counts(leaving.counts);
    std::vector<OwnedRow> taken(std::size_t(std::accumulate(counts.begin(), counts.end(), Index(0))));
    comm.all_to_all<OwnedRow>(leaving.rows, leaving.counts, taken, counts);
    planner.take(taken, counts);
  }
  return planner.plan();
}

}  // namespace polyad
