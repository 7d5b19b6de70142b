#pragma once

#include <span>
#include <utility>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/distributed/cp/exchange_plan.hpp"
#include "polyad/distributed/virtual_topology.hpp"

namespace polyad {

// Plans of exchanges in which rows go by way of other processes (docs/algorithms.md, "Routed exchange"). In a
// stage of the fold every process passes on the rows whose owner has another digit, and adds up what arrives
// with what it has of the same rows: a row leaves a process once, however many partial sums came together
// there. The expand goes back the same ways, and every process copies a row for all that passed it on. So
// each stage is an exchange like a direct one, in which the next process on the way is the owner.

// The processes that have partial sums of a row, on its way to its owner; of one row after the other.
class RowHolders {
 public:
  explicit RowHolders(int num_ranks) : last_seen_(std::size_t(num_ranks), 0) {}

  void begin(std::span<const int> touching) { holders_.assign(touching.begin(), touching.end()); }

  // One stage: fn(from, to), from != to, for every process `from` that passes the row on to `to`.
  template <class Fn>
  void pass_on(const VirtualTopology& topology, int stage, int owner, Fn fn) {
    ++now_;
    std::size_t num_kept = 0;
    for (const int holder : holders_) {
      const int to = topology.next(holder, owner, stage);
      if (to != holder) fn(holder, to);
      if (std::exchange(last_seen_[to], now_) != now_) holders_[num_kept++] = to;
    }
    holders_.resize(num_kept);
  }

 private:
  std::vector<int> holders_;
  std::vector<Index> last_seen_;  // [rank]: when it became or stayed a holder
  Index now_ = 0;
};

// The topology for a mode of a distribution: in medium grain rows stay within the layers of the mode.
VirtualTopology topology_for(const Distribution& distribution, int mode, int num_stages);

// A row with the process that owns it.
struct OwnedRow {
  Index row;
  int owner;

  friend auto operator<=>(const OwnedRow&, const OwnedRow&) = default;
};

// Plans the exchange of one process, stage after stage, from the rows that it touches (ascending), which must
// outlive the planner as the topology must. In every stage all processes call next_stage(), and each takes
// what the others have for it.
class RoutePlanner {
 public:
  RoutePlanner(const VirtualTopology& topology, int rank, std::span<const Index> touched,
               const RowOwners& owners);

  struct Leaving {
    std::vector<OwnedRow> rows;  // by receiver and then by row
    std::vector<Index> counts;   // [receiver]
  };
  Leaving next_stage();
  // Rows that arrive, by sender and then by row; counts: [sender].
  void take(std::span<const OwnedRow> rows, std::span<const Index> counts);
  // After the last stage.
  ExchangePlan plan() const;

  // Rows, ordered by the process that they are sent to or come from, and then by row.
  struct RowsOfPeers {
    Array<Index> rows;
    std::vector<ExchangePlan::Peer> peers;  // from 0, in `rows`
  };
  // What a process does in one stage of the fold.
  struct StageRows {
    RowsOfPeers passed_on, taken;
  };

 private:
  const VirtualTopology& topology_;
  int rank_;
  std::span<const Index> touched_;
  std::vector<OwnedRow> held_;  // ascending
  std::vector<StageRows> stages_;
};

// The plan of this process, from the rows that it touches (ascending). Collective.
ExchangePlan plan_routes(const Comm& comm, std::span<const Index> touched, const RowOwners& owners,
                         const VirtualTopology& topology);

}  // namespace polyad
