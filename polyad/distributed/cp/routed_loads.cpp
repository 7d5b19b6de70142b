#include "polyad/distributed/cp/routed_loads.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/distributed/cp/pair_set.hpp"
#include "polyad/distributed/cp/routed_plan.hpp"

namespace polyad {
namespace {

// Rows that leave and reach every part in the stages of a fold, and between which parts.
class RouteCounts {
 public:
  explicit RouteCounts(const VirtualTopology& topology)
      : topology_(topology), holders_(topology.num_ranks()) {
    const std::vector<Index> none(std::size_t(topology.num_ranks()), 0);
    in_transit_ = none;
    for (const int digit : topology.digits())
      stages_.push_back({none, none, none, PairSet(topology.num_ranks(), digit)});
  }

  void add(int owner, std::span<const int> touching) {
    holders_.begin(touching);
    for (int s = 0; s < topology_.num_stages(); ++s) {
      auto& stage = stages_[s];
      const int digit = topology_.digit(owner, s);
      holders_.pass_on(topology_, s, owner, [&](int from, int to) {
        ++stage.passed_on[from], ++stage.taken[to];
        if (s > 0 && !std::ranges::binary_search(touching, from)) ++in_transit_[from];
        stage.pairs.add(from, digit);
      });
    }
  }

  void add(const RouteCounts& other) {
    for (std::size_t p = 0; p < in_transit_.size(); ++p) in_transit_[p] += other.in_transit_[p];
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      auto& stage = stages_[s];
      const auto& more = other.stages_[s];
      for (std::size_t p = 0; p < stage.taken.size(); ++p) {
        stage.passed_on[p] += more.passed_on[p];
        stage.taken[p] += more.taken[p];
      }
      stage.pairs.add(more.pairs);
    }
  }

  // Of what all processes have counted, with messages for the fold or without. Collective.
  void make_global(const Comm& comm, double fraction, bool folds) {
    for (int s = 0; s < topology_.num_stages(); ++s) count_messages(comm, s, folds);
    if (comm.size() == 1 && fraction >= 1) return;
    add_up(comm, fraction, in_transit_);
    for (auto& stage : stages_) {
      add_up(comm, fraction, stage.passed_on);
      add_up(comm, fraction, stage.taken);
    }
  }

  ModeLoads loads(bool folds, ModeLoads loads) const {
    const Index back = folds ? 1 : 0;
    loads.stages.clear();
    for (std::size_t p = 0; p < loads.size(); ++p) {
      loads[p].local += in_transit_[p];
      loads[p].sent = loads[p].received = loads[p].messages = 0;
    }
    for (int s = 0; s < topology_.num_stages(); ++s) {
      auto& of_stage = loads.stages.emplace_back(loads.size());
      for (std::size_t p = 0; p < loads.size(); ++p) {
        of_stage[p].sent = stages_[s].taken[p] + back * stages_[s].passed_on[p];
        of_stage[p].received = stages_[s].passed_on[p] + back * stages_[s].taken[p];
        of_stage[p].messages = stages_[s].messages[p];
        loads[p].sent += of_stage[p].sent;
        loads[p].received += of_stage[p].received;
        loads[p].messages += of_stage[p].messages;
      }
    }
    return loads;
  }

 private:
  struct Stage {
    std::vector<Index> passed_on, taken;  // [part]: rows
    std::vector<Index> messages;          // [part]: of all processes
    PairSet pairs;                        // of a part that passes rows on and the digit of the next one
  };

  static void add_up(const Comm& comm, double fraction, std::vector<Index>& counts) {
    std::vector<double> sums(counts.size());
    for (std::size_t p = 0; p < counts.size(); ++p) sums[p] = double(counts[p]) / fraction;
    comm.all_reduce(std::span(sums));
    for (std::size_t p = 0; p < counts.size(); ++p) counts[p] = Index(std::llround(sums[p]));
  }

  void count_messages(const Comm& comm, int s, bool folds) {
    auto& messages = stages_[s].messages;
    stages_[s].pairs.for_each_of_all(comm, [&](int from, int digit) {
      if (folds) ++messages[from];
      ++messages[topology_.next_by_digit(from, digit, s)];
    });
    comm.all_reduce(std::span(messages));
  }

  const VirtualTopology& topology_;
  std::vector<Stage> stages_;
  std::vector<Index> in_transit_;  // [part]: rows that it holds only to pass them on, each in one stage
  RowHolders holders_;
};

}  // namespace

ModeLoads routed_loads(const Comm& comm, const RowParts& rows, std::span<const int> owners, bool folds,
                       double fraction, const VirtualTopology& topology, ModeLoads direct) {
  std::vector<std::optional<RouteCounts>> pieces(num_threads());
  parallel_parts(rows.num_rows(), [&](Index begin, Index end, int thread) {
    auto& counts = pieces[thread].emplace(topology);
    for (Index i = begin; i < end; ++i) counts.add(owners[i], rows.of(i));
  });
  for (std::size_t t = 1; t < pieces.size(); ++t)
    if (pieces[t]) pieces.front()->add(*pieces[t]);
  pieces.front()->make_global(comm, fraction, folds);
  return pieces.front()->loads(folds, std::move(direct));
}

}  // namespace polyad
