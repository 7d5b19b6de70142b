#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "polyad/distributed/cp/distribution_options.hpp"

namespace polyad {

// DistributionOptions as people write them, for interfaces that take them as texts; "auto" everywhere: chosen
// by prediction.
struct DistributionTexts {
  std::string scheme = "auto";      // a name of a Scheme
  std::string partition = "auto";   // "random", "block", "hypergraph", or a file
  std::string grid = "auto";        // "2x3x1", or the rule "splatt" or "predicted"
  std::string policy = "auto";      // a name of all_policies
  std::string row_owners = "auto";  // "even", "greedy", "balanced", "random", or a file
  std::string replicate = "auto";   // "none", or modes counted from 1 as in "2,3"
  std::string exchange = "auto";  // "direct", "routed", "routed:3", or one of these for each mode, by commas
  std::string cache;              // folder of cached partitions; empty: the user's
  int num_free_primes = 2;
  int policy_c = 0;  // damping of the policy "ordered"; 0: not given

  friend bool operator==(const DistributionTexts&, const DistributionTexts&) = default;
};

// What they mean for a tensor with so many modes. Throws Error{bad_option} for nonsense, but takes a name of
// no scheme and no policy for "auto".
DistributionOptions parse_distribution(const DistributionTexts& texts, std::uint64_t seed, int order);

// The words that `partition` and `row_owners` take, beside the name of a file.
std::vector<std::string> partition_words();
std::vector<std::string> row_owners_words();

// What `partition` means; and the file that it names, empty: none.
DistributionOptions::Partition parse_partition(const DistributionTexts& texts);
std::string partition_file(const DistributionTexts& texts);
// What `row_owners` means, nothing for "auto"; and the file that it names, empty: none.
std::optional<RowRule> parse_row_rule(const DistributionTexts& texts);
std::string row_owners_file(const DistributionTexts& texts);

}  // namespace polyad
