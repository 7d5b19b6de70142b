#pragma once

#include <CLI/App.hpp>
#include <span>
#include <string>

#include "cli/console.hpp"
#include "polyad/algo/plan_strategies.hpp"
#include "polyad/dist/choose_distribution.hpp"

namespace polyad::cli {

// How a tensor is distributed over processes, as people say it.
struct DistributionArgs {
  std::string scheme = "auto", partition = "auto", grid = "auto", policy = "auto", row_owners = "greedy",
              replicate = "auto", cache;
  int num_free_primes = 2;
  int policy_c = 0;           // 0: not given
  bool allows_coarse = true;  // by itself, where no scheme is said: not all formats serve it
};
void add_distribution_options(CLI::App& command, DistributionArgs& args);
// The file that says the parts; empty: none does.
std::string partition_file(const DistributionArgs& args);

// What they mean for a tensor of which every process has a share. Partitions of its hypergraph are cached.
// Throws Error{bad_option}, and Error{bad_input} where a partition was given as a file that does not fit.
// Collective.
ChosenDistribution decide_distribution(const Comm& comm, const SparseTensor<double>& share,
                                       const DistributionArgs& args, std::uint64_t seed, Index num_components,
                                       const MachineModel& machine, const MemoryLimit& limit,
                                       const Console& console);

// The same for a plan, where a partition from a file is a strategy among others. Throws Error{bad_option}.
DistributionOptions parse_distribution(const DistributionArgs& args, std::uint64_t seed, int order);
// That strategy: of fine grain if the file has a line per nonzero, of coarse grain if it has one per slice,
// for the least of these numbers of processes that is more than its largest part. The tensor must outlive it.
// Throws Error{bad_input} for a file that does not fit.
FurtherStrategies partition_from_file(const DistributionArgs& args, const SparseTensor<double>& x,
                                      std::span<const int> process_counts, RowRule row_rule);
// Strategies of fine and coarse grain for every number of processes: partitions that are made for the tensor,
// each within so many seconds, and cached; what is worth telling of that is added to the notices.
// These and the tensor must outlive the strategies.
FurtherStrategies partitions_of_hypergraphs(const SparseTensor<double>& x, const std::string& cache,
                                            const DistributionOptions& options, double most_seconds,
                                            std::vector<std::string>& notices);

}  // namespace polyad::cli
