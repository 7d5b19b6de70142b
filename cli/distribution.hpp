#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "polyad/distributed/cp/distribution_options.hpp"

namespace polyad::cli {

// The texts of the options that say how a tensor is distributed over processes.
struct DistributionArgs {
  std::string scheme = "auto", partition = "auto", grid = "auto", policy = "auto", row_owners = "auto",
              replicate = "auto", cache;
  int num_free_primes = 2;
  int policy_c = 0;  // 0: not given

  friend bool operator==(const DistributionArgs&, const DistributionArgs&) = default;
};
void add_distribution_options(CLI::App& command, DistributionArgs& args);
// The file that --partition names; empty: it names none.
std::string partition_file(const DistributionArgs& args);
DistributionOptions::Partition parse_partition(const DistributionArgs& args);

// What they mean for a tensor with so many modes. Throws Error{bad_option}.
DistributionOptions parse_distribution(const DistributionArgs& args, std::uint64_t seed, int order);

}  // namespace polyad::cli
