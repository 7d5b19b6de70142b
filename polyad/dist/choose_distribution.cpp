#include "polyad/dist/choose_distribution.hpp"

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/dist/grid_choice.hpp"

namespace polyad {
namespace {

// Rows are looked at until about so many of their nonzeros are, per process.
constexpr double nonzeros_to_look_at = 200000;

class Contest {
 public:
  Contest(const Comm& comm, const SparseTensor<double>& share, const DistributionOptions& options,
          Index num_components, const MachineModel& machine)
      : comm_(comm),
        share_(share),
        options_(options),
        num_components_(num_components),
        machine_(machine),
        distributor_(comm, share, comm.size(), options.seed) {}

  ChosenDistribution run() {
    if (wants(Scheme::medium) && options_.partition != Partition::random) enter_medium();
    if (wants(Scheme::coarse)) enter(by_partition(distributor_.coarse_block(), &Distributor::coarse_random));
    // Without a good partition fine grain has nothing to offer that the others have not.
    if (options_.scheme == Scheme::fine)
      enter(by_partition(distributor_.fine_block(), &Distributor::fine_random));
    if (entries_.empty())
      throw Error(Errc::bad_option,
                  "medium grain cuts every mode into blocks; a random partition is for coarse "
                  "or fine grain");
    auto chosen = best();
    choose_replicated(chosen.distribution);
    return chosen;
  }

 private:
  using Partition = DistributionOptions::Partition;

  bool wants(Scheme scheme) const { return !options_.scheme || options_.scheme == scheme; }

  Distribution by_partition(Distribution block, Distribution (Distributor::*random)() const) const {
    return options_.partition == Partition::random ? (distributor_.*random)() : std::move(block);
  }

  std::vector<GridShape> grids() const {
    using Rule = DistributionOptions::GridRule;
    const auto rows = distributor_.rows();
    if (options_.grid) return {*options_.grid};
    if (options_.grid_rule == Rule::splatt) return {splatt_grid(rows, comm_.size())};
    if (options_.grid_rule == Rule::predicted)
      return {predicted_grid(distributor_.profiles(), comm_.size(), options_.num_free_primes)};
    auto grids = candidate_grids(rows, comm_.size(), options_.num_free_primes);
    const auto splatt = splatt_grid(rows, comm_.size());
    if (std::ranges::find(grids, splatt) == grids.end()) grids.push_back(splatt);
    return grids;
  }

  // First the grid, with nonzeros balanced, then the policy on the best grid.
  void enter_medium() {
    const auto first = options_.policy.value_or(LayerPolicy{});
    for (const auto& grid : grids()) enter(distributor_.medium(grid, first));
    if (options_.policy) return;
    const auto grid = *best().distribution.grid;
    for (const auto& policy : all_policies())
      if (policy != first) enter(distributor_.medium(grid, policy));
  }

  void enter(Distribution distribution) {
    distribution.row_rule = options_.row_rule;
    entries_.push_back(std::move(distribution));
  }

  // Short modes are all-reduced where that is clearly faster than fold and expand.
  void choose_replicated(Distribution& distribution) {
    constexpr double clearly = 0.8;
    if (options_.is_replicated) {
      distribution.is_replicated = *options_.is_replicated;
      return;
    }
    if (distribution.scheme == Scheme::coarse) return;
    auto loads = planner().loads(distribution);
    for (int m = 0; m < share_.order(); ++m) {
      const double exchanged = predict_time(loads, m, num_components_, machine_).seconds();
      auto with_all_rows = loads;
      replicate(with_all_rows[m]);
      const double reduced = predict_time(with_all_rows, m, num_components_, machine_).seconds();
      distribution.is_replicated.push_back(reduced < clearly * exchanged);
    }
  }

  const LoadPlanner& planner() {
    if (!planner_) planner_.emplace(comm_, share_, fraction());
    return *planner_;
  }

  // Only when there is something to choose: predictions cost time.
  ChosenDistribution best() {
    if (entries_.size() == 1) return {entries_.front(), {}};
    for (std::size_t e = candidates_.size(); e < entries_.size(); ++e) {
      const auto time = predict_time(planner().loads(entries_[e]), num_components_, machine_);
      candidates_.push_back({describe(entries_[e]), time.seconds()});
    }
    const auto least = std::ranges::min_element(candidates_, {}, &ChosenDistribution::Candidate::seconds);
    return {entries_[least - candidates_.begin()], candidates_};
  }

  double fraction() const {
    const auto most = double(comm_.all_reduce(share_.num_nonzeros(), Reduce::max));
    return std::min(1.0, nonzeros_to_look_at / std::max(1.0, most));
  }

  const Comm& comm_;
  const SparseTensor<double>& share_;
  const DistributionOptions& options_;
  Index num_components_;
  const MachineModel& machine_;
  Distributor distributor_;
  std::optional<LoadPlanner> planner_;
  std::vector<Distribution> entries_;
  std::vector<ChosenDistribution::Candidate> candidates_;  // as entries_, so far as they were weighed
};

}  // namespace

std::string describe(const Distribution& distribution) {
  auto text = to_string(distribution.scheme);
  if (distribution.grid) text += " " + to_string(*distribution.grid);
  if (distribution.policy) return text + " " + to_string(*distribution.policy);
  return text + " " + distribution.partition;
}

ChosenDistribution choose_distribution(const Comm& comm, const SparseTensor<double>& share,
                                       const DistributionOptions& options, Index num_components,
                                       const MachineModel& machine) {
  if (options.grid && options.grid->size() != comm.size())
    throw Error(Errc::bad_option, "the grid " + to_string(*options.grid) + " is for " +
                                      std::to_string(options.grid->size()) + " processes; " +
                                      std::to_string(comm.size()) + " were started");
  return Contest(comm, share, options, num_components, machine).run();
}

}  // namespace polyad
