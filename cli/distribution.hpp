#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "polyad/distributed/cp/distribution_options.hpp"

namespace polyad::cli {

// How a tensor is distributed over processes, as people say it.
struct DistributionArgs {
  std::string scheme = "auto", partition = "auto", grid = "auto", policy = "auto", row_owners = "greedy",
              replicate = "auto", cache;
  int num_free_primes = 2;
  int policy_c = 0;  // 0: not given
};
void add_distribution_options(CLI::App& command, DistributionArgs& args);
// The file that says the parts; empty: none does.
std::string partition_file(const DistributionArgs& args);

// What they mean for a tensor with so many modes. Throws Error{bad_option}.
DistributionOptions parse_distribution(const DistributionArgs& args, std::uint64_t seed, int order);

}  // namespace polyad::cli
