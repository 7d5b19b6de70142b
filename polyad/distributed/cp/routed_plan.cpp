#include "polyad/distributed/cp/routed_plan.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/distributed/cp/row_sets.hpp"

namespace polyad {
namespace {

using Peer = ExchangePlan::Peer;

// Rows, ordered by the process that they are sent to or come from, and then by row.
struct RowsOfPeers {
  Array<Index> rows;
  std::vector<Peer> peers;  // from 0, in `rows`

  void add(int rank, Index row) {
    if (peers.empty() || peers.back().rank != rank) peers.push_back({rank, std::ssize(rows), 0});
    rows.push_back(row);
    peers.back().end = std::ssize(rows);
  }
};

// What a process does in one stage of the fold.
struct StageRows {
  RowsOfPeers passed_on, taken;
};

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
    const Index num_local = num_kept[s] + std::ssize(to_owners.rows);
    stage.rows.assign(plan.rows.begin(), plan.rows.begin() + num_local);
    stage.num_owned = num_kept[s];
    stage.num_interior = plan.num_interior;
    stage.lenders = moved_by(to_owners.peers, num_kept[s]);
    stage.borrowers = from_borrowers.peers;
    for (const Index row : from_borrowers.rows) stage.lent.push_back(local(row));
  }
  return plan;
}

// A row with the process that owns it.
struct OwnedRow {
  Index row;
  int owner;

  friend auto operator<=>(const OwnedRow&, const OwnedRow&) = default;
};

// What the process passes on in a stage, by receiver and then by row; the rest stays in `held`.
std::vector<OwnedRow> take_out(std::vector<OwnedRow>& held, const VirtualTopology& topology, int rank,
                               int stage, std::vector<Index>& counts) {
  std::vector<std::pair<int, OwnedRow>> leaving;
  std::erase_if(held, [&](const OwnedRow& row) {
    const int to = topology.next(rank, row.owner, stage);
    if (to != rank) leaving.emplace_back(to, row);
    return to != rank;
  });
  std::ranges::sort(leaving);
  std::vector<OwnedRow> rows;
  for (const auto& [to, row] : leaving) {
    ++counts[to];
    rows.push_back(row);
  }
  return rows;
}

RowsOfPeers by_peers(std::span<const OwnedRow> rows, std::span<const Index> counts) {
  RowsOfPeers result;
  auto at = rows.begin();
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    for (Index i = 0; i < counts[rank]; ++i) result.add(int(rank), (at++)->row);
  return result;
}

void add_to(std::vector<OwnedRow>& held, std::span<const OwnedRow> taken) {
  held.insert(held.end(), taken.begin(), taken.end());
  std::ranges::sort(held);
  const auto repeated = std::ranges::unique(held);
  held.erase(repeated.begin(), repeated.end());
}

}  // namespace

VirtualTopology topology_for(const Distribution& distribution, int mode, int num_stages) {
  std::vector<int> layer;
  if (distribution.grid)
    for (int rank = 0; rank < distribution.num_parts; ++rank)
      layer.push_back(distribution.grid->coord(rank, mode));
  return {distribution.num_parts, num_stages, layer, distribution.machines};
}

std::vector<ExchangePlan> plan_routes(const RowParts& rows, std::span<const int> owners,
                                      const VirtualTopology& topology) {
  struct Hop {
    int from, to;
    Index row;
  };
  const auto num_ranks = std::size_t(topology.num_ranks());
  std::vector<std::vector<Hop>> hops(std::size_t(topology.num_stages()));
  std::vector<Array<Index>> touched(num_ranks);
  RowHolders holders(topology.num_ranks());
  for (Index i = 0; i < rows.num_rows(); ++i) {
    holders.begin(rows.of(i));
    for (const int rank : rows.of(i)) touched[rank].push_back(rows.rows[i]);
    for (int s = 0; s < topology.num_stages(); ++s)
      holders.pass_on(topology, s, owners[i], [&](int from, int to) {
        hops[s].push_back({from, to, rows.rows[i]});
      });
  }
  std::vector<std::vector<StageRows>> stages(num_ranks, std::vector<StageRows>(hops.size()));
  for (std::size_t s = 0; s < hops.size(); ++s) {
    std::ranges::sort(hops[s], {}, [](const Hop& hop) { return std::tuple(hop.to, hop.row); });
    for (const auto& hop : hops[s]) stages[hop.from][s].passed_on.add(hop.to, hop.row);
    std::ranges::sort(hops[s], {}, [](const Hop& hop) { return std::tuple(hop.from, hop.row); });
    for (const auto& hop : hops[s]) stages[hop.to][s].taken.add(hop.from, hop.row);
  }
  std::vector<ExchangePlan> plans;
  for (std::size_t rank = 0; rank < num_ranks; ++rank) plans.push_back(assemble(touched[rank], stages[rank]));
  return plans;
}

ExchangePlan plan_routes(const Comm& comm, std::span<const Index> touched, const RowOwners& owners,
                         const VirtualTopology& topology) {
  assert(comm.size() == topology.num_ranks());
  std::vector<OwnedRow> held;
  for (const Index row : touched) held.push_back({row, owners(row)});
  std::vector<StageRows> stages;
  for (int s = 0; s < topology.num_stages(); ++s) {
    std::vector<Index> counts(std::size_t(comm.size()), 0);
    const auto leaving = take_out(held, topology, comm.rank(), s, counts);
    const auto taken_counts = comm.exchange_counts(counts);
    std::vector<OwnedRow> taken(
        std::size_t(std::accumulate(taken_counts.begin(), taken_counts.end(), Index(0))));
    comm.all_to_all<OwnedRow>(leaving, counts, taken, taken_counts);
    stages.push_back({by_peers(leaving, counts), by_peers(taken, taken_counts)});
    add_to(held, taken);
  }
  return assemble(touched, stages);
}

}  // namespace polyad
