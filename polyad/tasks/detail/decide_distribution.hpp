#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyad/plan/choose_distribution.hpp"
#include "polyad/plan/plan_strategies.hpp"
#include "polyad/tasks/context.hpp"

namespace polyad::tasks {

// Throws Error{bad_option} for options that contradict each other. Returns them with what follows from them:
// a grid or a policy means medium grain.
DistributionOptions checked(DistributionOptions options);

// The distribution of a tensor of which every process has a share. Partitions of its hypergraph are cached.
// Throws Error{bad_option}, and Error{bad_input} for a partition file that does not fit. Collective.
ChosenDistribution decide_distribution(const Context& context, const SparseTensor<double>& share,
                                       const DistributionOptions& options, Index num_components,
                                       const MachineModel& machine, const PassOptions& passes,
                                       const MemoryLimit& limit);

// The owners of rows in options.row_owners_file, [mode]. Throws Error{bad_input} for a file that does not
// have a part below num_parts for every slice; `why_no_more` says in it why there are no more parts.
std::vector<RowOwners> rows_from_file(const DistributionOptions& options, std::span<const Index> extents,
                                      int num_parts, const std::string& why_no_more);

// The partition in options.partition_file as a strategy among others, for a plan: of fine grain if the file
// has a line per nonzero, of coarse grain if it has one per slice, for the least of these numbers of
// processes that is more than its largest part. The tensor must outlive it. Throws Error{bad_input} for a
// file that does not fit.
FurtherStrategies partition_from_file(const DistributionOptions& options, const SparseTensor<double>& x,
                                      std::span<const int> process_counts);
// Strategies of fine and coarse grain for every number of processes: partitions that are made for the tensor,
// each within so many seconds, and cached; messages about that are added to the notices. These and the tensor
// must outlive the strategies.
FurtherStrategies partitions_of_hypergraphs(const SparseTensor<double>& x, const DistributionOptions& options,
                                            double time_limit_seconds, std::vector<std::string>& notices);
// Those that are in the cache, for the numbers of processes that they are for; none is made.
FurtherStrategies kept_partitions_of_hypergraphs(const SparseTensor<double>& x,
                                                 const DistributionOptions& options);

}  // namespace polyad::tasks
