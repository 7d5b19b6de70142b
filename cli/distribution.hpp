#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/console.hpp"
#include "polyad/dist/choose_distribution.hpp"

namespace polyad::cli {

// How a tensor is distributed over processes, as people say it.
struct DistributionArgs {
  std::string scheme = "auto", partition = "auto", grid = "auto", policy = "auto", row_owners = "greedy",
              replicate = "auto";
  int num_free_primes = 2;
  int policy_c = 0;  // 0: not given
};
void add_distribution_options(CLI::App& command, DistributionArgs& args);
// The file that says the parts; empty: none does.
std::string partition_file(const DistributionArgs& args);

// What they mean for a tensor of which every process has a share, and which lies at `path`: partitions of its
// hypergraph are kept beside it. Throws Error{bad_option}, and Error{bad_input} where a partition was given
// as a file that does not fit. Collective.
ChosenDistribution decide_distribution(const Comm& comm, const SparseTensor<double>& share,
                                       const std::string& path, const DistributionArgs& args,
                                       std::uint64_t seed, Index num_components, const MachineModel& machine,
                                       const Console& console);

}  // namespace polyad::cli
