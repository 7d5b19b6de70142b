#include "cli/distribution.hpp"

#include "cli/option_text.hpp"

namespace polyad::cli {

void add_distribution_options(CLI::App& command, DistributionTexts& args) {
  command.option_defaults()->group("Distribution over processes");
  command
      .add_option("--distribution", args.scheme,
                  "What is distributed over the processes: whole slices (coarse), blocks of a process grid "
                  "(medium), or nonzeros (fine)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "coarse", "medium", "fine"}));
  command
      .add_option("--partition", args.partition,
                  "Which process gets which nonzeros (fine) or slices (coarse): auto, block, random, "
                  "hypergraph, or a file with a part per line")
      ->capture_default_str();
  command
      .add_option("--grid", args.grid,
                  "Process grid of medium grain: auto, as in 2x3x1, or by a rule: splatt or predicted")
      ->capture_default_str();
  command
      .add_option("--grid-primes", args.num_free_primes,
                  "How many prime factors of the number of processes --grid auto and predicted try in every "
                  "mode")
      ->capture_default_str()
      ->check(in_range(1, 6));
  command.add_option("--policy", args.policy, "How medium grain cuts modes into layers")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "nnz", "set", "ordered-1", "ordered-2", "max-min", "weighted-1",
                             "weighted-4", "interleaved-4"}));
  command.add_option("--policy-c", args.policy_c, "Damping constant of the policy 'ordered'")
      ->check(in_range(1, 1000));
  command
      .add_option("--replicate", args.replicate,
                  "Modes of which every process holds all factor rows: auto, none, or as in 2,3")
      ->capture_default_str();
  command
      .add_option(
          "--exchange", args.exchange,
          "How factor rows reach other processes: auto, direct, or in stages by way of others that add "
          "up partial sums: routed, or routed:3 with three stages; or one of these for each mode, as "
          "in direct,routed,direct")
      ->capture_default_str();
  command
      .add_option("--row-owners", args.row_owners,
                  "Which process owns a factor row that several need: auto, greedy, balanced, even (medium "
                  "grain), random (fine grain), or a file with a part per slice, mode after mode, in a line "
                  "each")
      ->capture_default_str();
  add_cache_option(command, args.cache);
}

}  // namespace polyad::cli
