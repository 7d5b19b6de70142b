#include "polyad/plan/plan_completion.hpp"

#include <algorithm>
#include <set>

#include "polyad/base/timings.hpp"

namespace polyad {
namespace {

double imbalance_of(const ColumnShares& columns) {
  std::vector<Index> ratings(std::size_t(columns.num_parts), 0);
  Index total = 0;
  for (Index s = 0; s < columns.num_shares(); ++s) {
    ratings[std::size_t(columns.parts[s])] += columns.ratings[s];
    total += columns.ratings[s];
  }
  return total == 0 ? 0 : double(std::ranges::max(ratings)) * columns.num_parts / double(total) - 1;
}

Index sum_of_squares(const ColumnShares& columns) {
  Index sum = 0;
  for (Index j = 0; j < columns.num_columns(); ++j) {
    const Index lambda = columns.connectivity(j);
    if (lambda > 1) sum += lambda * lambda;
  }
  return sum;
}

// More than the largest connectivity changes nothing.
std::set<int> sub_epochs_to_look_at(const ColumnShares& columns, const CompletionPlanOptions& options,
                                    int automatic) {
  const int maximum = int(std::max(columns.max_connectivity(), Index(1)));
  std::set<int> result;
  for (const int wanted : options.sub_epochs) result.insert(wanted);
  if (!result.empty()) return result;
  for (int n = 1; n < maximum; n *= 2) result.insert(n);
  result.insert({automatic, maximum});
  return result;
}

}  // namespace

CompletionPlan plan_completion(SparseTensor<double> ratings, const CompletionPlanOptions& options,
                               Progress& progress) {
  CompletionPlan plan{ratings.extent(0), ratings.extent(1), ratings.num_nonzeros(), {}, {}};
  progress.begin("planning", std::ssize(options.process_counts) * std::ssize(options.partitions),
                 "partitions");
  for (const int processes : options.process_counts)
    for (const auto& partition : options.partitions) {
      if (partition.only_for.value_or(processes) != processes) {
        progress.advance(1);
        continue;
      }
      const Stopwatch watch;
      const auto owners = partition.make(processes);
      const double seconds = watch.seconds();
      ratings = transposed(std::move(ratings), partition.by);
      const auto columns = share_columns(ratings, owners, processes);
      ratings = transposed(std::move(ratings), partition.by);
      const int automatic = choose_sub_epochs(columns, options.row, options.machine);
      for (const int n : sub_epochs_to_look_at(columns, options, automatic)) {
        PlannedCompletion way{processes, partition.by, partition.name, n, n == automatic, {}, 0, 0,
                              0,         seconds};
        way.costs = costs_of(plan_rotation(columns, n), options.row, options.machine);
        way.connectivity = rotation_staleness(columns, 1);
        way.lambda2 = sum_of_squares(columns);
        way.imbalance = imbalance_of(columns);
        plan.ways.push_back(way);
        const bool is_quicker =
            !plan.recommended ||
            way.costs.seconds_of_progress() < plan.ways[*plan.recommended].costs.seconds_of_progress();
        if (way.costs.progress >= least_progress && is_quicker) plan.recommended = plan.ways.size() - 1;
      }
      progress.advance(1);
    }
  progress.finish();
  return plan;
}

}  // namespace polyad
