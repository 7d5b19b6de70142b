#include "polyad/plan/choose_distribution.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad {
namespace {

// Number of nonzeros per process, and at least of all processes, in the sample for each mode, approximately.
constexpr double nonzeros_per_process = 10000, nonzeros_of_all = 80000;
// Number of grids, the fastest, on which other policies and owners of rows are predicted.
constexpr std::size_t num_grids_for_policies = 2;
constexpr double does_not_fit = 1e9;  // seconds, more than any time of an iteration

// Random slices are considered only on request.
DistributionOptions with_blocks(DistributionOptions options) {
  using Partition = DistributionOptions::Partition;
  if (options.partition == Partition::any) options.partition = Partition::block;
  return options;
}

using Candidate = ChosenDistribution::Candidate;

// [rank]: the first rank on its machine. Collective.
std::vector<int> machines_of_all(const Comm& comm) {
  const auto neighbours = comm.split_by_machine();
  return comm.all_gather(neighbours.broadcast(comm.rank(), 0));
}

class DistributionSearch {
 public:
  DistributionSearch(const Comm& comm, const SparseTensor<double>& share, const DistributionOptions& options,
                     Index num_components, const MachineModel& machine, const PassOptions& passes,
                     const MemoryLimit& limit)
      : comm_(comm),
        share_(share),
        options_(with_blocks(options)),
        num_components_(num_components),
        machine_(machine),
        passes_(passes),
        limit_(limit),
        distributor_(comm, share, comm.size(), options.seed) {
    check_exchange(options, share.order(), comm.size());
    const auto stages = given_stages(options_, share.order(), comm.size());
    if (!stages || !stages->empty()) machines_ = machines_of_all(comm);
  }

  ChosenDistribution run(GivenParts given) {
    distributor_.set_listed_owners(std::move(given.rows));
    for (const auto& strategy : coarse_strategies(distributor_, options_)) enter(strategy);
    for (const auto& strategy : fine_strategies(distributor_, options_)) enter(strategy);
    for (auto& distribution : given.distributions) enter(std::move(distribution));
    enter_medium();
    auto chosen = best();
    settle_rows(chosen.distribution);
    return chosen;
  }

 private:
  void enter_medium() {
    const bool is_settled = options_.grid && options_.policy && options_.row_rule;
    if (is_settled && entries_.empty()) {
      for (const auto& strategy : medium_strategies(distributor_, options_)) enter(strategy);
      return;
    }
    // What does not fit is not worth a neighbour.
    explore_medium(distributor_, options_, num_grids_for_policies, [&](const Strategy& strategy) {
      enter(strategy);
      predict_all();
      const auto& last = candidates_.back();
      return last.memory.fits ? last.seconds : last.seconds + does_not_fit;
    });
  }

  void enter(const Strategy& strategy) { enter(strategy.make()); }

  void enter(Distribution distribution) {
    distribution.machines = machines_;
    for (const auto rule : row_rules_to_compare(distribution.scheme, options_))
      entries_.push_back(distributor_.with_owners(distribution, rule));
    if (distribution.scheme != Scheme::fine) entries_.push_back(std::move(distribution));
  }

  // Which modes are replicated, and in how many stages the rows of the others go.
  void settle_rows(Distribution& distribution) {
    const auto stages = given_stages(options_, share_.order(), comm_.size());
    if ((options_.is_replicated || distribution.scheme == Scheme::coarse) && stages) {
      if (options_.is_replicated) distribution.is_replicated = *options_.is_replicated;
      distribution.num_stages = *stages;
      return;
    }
    auto planned = plan_loads(planner(), distribution, options_, num_components_, machine_);
    distribution.is_replicated = std::move(planned.is_replicated);
    distribution.num_stages = std::move(planned.num_stages);
  }

  const LoadPlanner& planner() {
    if (!planner_) {
      planner_.emplace(comm_, share_, fraction());
      planner_->count_nodes(fused().trees);
    }
    return *planner_;
  }

  // Only when there is something to choose: predictions cost time. Greedy and balanced owners are first
  // predicted for ranges of rows; the fastest, and those that differ from it in owners only, are then
  // predicted with the owners that a run would choose, until the fastest is one of these.
  ChosenDistribution best() {
    if (entries_.size() == 1) return {entries_.front(), {}};
    predict_all();
    planner_->choose_owners_as_runs();
    std::vector<bool> is_settled;
    for (const auto& entry : entries_) is_settled.push_back(!entry.rows.empty());
    for (;;) {
      const auto fastest = std::size_t(smallest() - candidates_.begin());
      if (is_settled[fastest]) return {entries_[fastest], candidates_};
      for (std::size_t e = 0; e < entries_.size(); ++e) {
        if (is_settled[e] || !differ_in_owners(entries_[e], entries_[fastest])) continue;
        candidates_[e] = predict(entries_[e]);
        is_settled[e] = true;
      }
    }
  }

  // Those that fit by time, before the others by memory.
  std::vector<Candidate>::const_iterator smallest() const {
    return std::ranges::min_element(candidates_, {}, [](const Candidate& c) {
      return c.memory.fits ? std::tuple(0, c.seconds) : std::tuple(1, double(c.memory.bytes));
    });
  }

  // In nothing else.
  static bool differ_in_owners(const Distribution& a, const Distribution& b) {
    return a.scheme == b.scheme && a.partition == b.partition && a.grid == b.grid && a.policy == b.policy;
  }

  const FusedPasses& fused() {
    if (!fused_)
      fused_ = passes_.can_fuse ? fused_passes(shape_of_shares(comm_, share_, distributor_.rows()), passes_,
                                               num_components_)
                                : FusedPasses{};
    return *fused_;
  }

  Candidate predict(const Distribution& distribution) {
    const auto planned = plan_loads(planner(), distribution, options_, num_components_, machine_);
    Candidate candidate{describe(distribution),
                        predict_time(planned.loads, num_components_, machine_, fused()).seconds()};
    if (limit_.max_bytes > 0) candidate.memory = limit_.need(planned.loads, distribution.scheme);
    return candidate;
  }

  void predict_all() {
    for (std::size_t e = candidates_.size(); e < entries_.size(); ++e)
      candidates_.push_back(predict(entries_[e]));
  }

  // Not of the largest share: few processes may have read a small file for all.
  double fraction() const {
    const auto all = double(comm_.all_reduce(share_.num_nonzeros()));
    return std::min(1.0, std::max(nonzeros_per_process * comm_.size(), nonzeros_of_all) / std::max(1.0, all));
  }

  const Comm& comm_;
  const SparseTensor<double>& share_;
  DistributionOptions options_;
  Index num_components_;
  const MachineModel& machine_;
  const PassOptions& passes_;
  const MemoryLimit& limit_;
  Distributor distributor_;
  std::vector<int> machines_;  // [rank], where rows may go in stages
  std::optional<LoadPlanner> planner_;
  std::optional<FusedPasses> fused_;
  std::vector<Distribution> entries_;
  std::vector<Candidate> candidates_;  // as entries_, those evaluated so far
};

}  // namespace

ChosenDistribution choose_distribution(const Comm& comm, const SparseTensor<double>& share,
                                       const DistributionOptions& options, Index num_components,
                                       const MachineModel& machine, const PassOptions& passes,
                                       const MemoryLimit& limit, GivenParts given) {
  if (options.grid && options.grid->size() > comm.size())
    throw Error(Errc::bad_option, "the grid " + to_string(*options.grid) + " is for " +
                                      std::to_string(options.grid->size()) + " processes; " +
                                      std::to_string(comm.size()) +
                                      (comm.size() == 1 ? " was started" : " were started"));
  return DistributionSearch(comm, share, options, num_components, machine, passes, limit)
      .run(std::move(given));
}

}  // namespace polyad
