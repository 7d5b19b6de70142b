#include "cli/distribution.hpp"

#include <fmt/format.h>

#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"

namespace polyad::cli {
namespace {

std::optional<Scheme> parse_scheme(const std::string& text) {
  for (const auto scheme : {Scheme::coarse, Scheme::medium, Scheme::fine})
    if (text == to_string(scheme)) return scheme;
  return std::nullopt;
}

std::optional<LayerPolicy> parse_policy(const DistributionArgs& args) {
  if (args.policy_c != 0) {
    if (args.policy != "auto" && !args.policy.starts_with("ordered"))
      throw Error(Errc::bad_option, "--policy-c is for the policy 'ordered', not for " + args.policy);
    const LayerPolicy policy{LayerPolicy::Kind::ordered, args.policy_c};
    if (args.policy != "auto" && args.policy != to_string(policy))
      throw Error(Errc::bad_option, fmt::format("--policy {} and --policy-c {} contradict each other",
                                                args.policy, args.policy_c));
    return policy;
  }
  for (const auto& policy : all_policies())
    if (args.policy == to_string(policy)) return policy;
  return std::nullopt;
}

std::optional<GridShape> parse_grid(const std::string& text, int order) {
  if (text == "auto" || text == "splatt" || text == "predicted") return std::nullopt;
  auto grid = parse_grid_shape(text);
  if (grid.order() != order)
    throw Error(Errc::bad_option,
                fmt::format("--grid {}: expected a number for each of the {} modes", text, order));
  return grid;
}

// "auto", "none" or "2,3"; from 1.
std::optional<std::vector<bool>> parse_replicated(const std::string& text, int order) {
  if (text == "auto") return std::nullopt;
  std::vector<bool> modes(std::size_t(order), false);
  if (text == "none") return modes;
  for (const int mode : parse_modes(text)) {
    if (mode < 0 || mode >= order)
      throw Error(
          Errc::bad_option,
          fmt::format("--replicate {}: expected auto, none, or modes from 1 to {}, as in 2,3", text, order));
    modes[mode] = true;
  }
  return modes;
}

}  // namespace

DistributionOptions parse_distribution(const DistributionArgs& args, std::uint64_t seed, int order) {
  using Rule = DistributionOptions::GridRule;
  DistributionOptions options;
  options.scheme = parse_scheme(args.scheme);
  options.partition_file = partition_file(args);
  options.partition = parse_partition(args);
  options.cache = args.cache;
  options.grid = parse_grid(args.grid, order);
  options.grid_rule = args.grid == "splatt"      ? Rule::splatt
                      : args.grid == "predicted" ? Rule::predicted
                                                 : Rule::fastest;
  options.num_free_primes = args.num_free_primes;
  options.policy = parse_policy(args);
  for (const auto rule : {RowRule::even, RowRule::greedy, RowRule::random})
    if (args.row_owners == to_string(rule)) options.row_rule = rule;
  options.seed = seed;
  options.is_replicated = parse_replicated(args.replicate, order);
  return options;
}

DistributionOptions::Partition parse_partition(const DistributionArgs& args) {
  using Partition = DistributionOptions::Partition;
  if (args.partition == "auto") return Partition::any;
  if (args.partition == "random") return Partition::random;
  if (args.partition == "block") return Partition::block;
  if (args.partition == "hypergraph") return Partition::hypergraph;
  return Partition::file;
}

std::string partition_file(const DistributionArgs& args) {
  return parse_partition(args) == DistributionOptions::Partition::file ? args.partition : "";
}

void add_distribution_options(CLI::App& command, DistributionArgs& args) {
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
      ->check(CLI::IsMember({"auto", "nnz", "set", "ordered-1", "ordered-2", "max-min"}));
  command.add_option("--policy-c", args.policy_c, "Damping constant of the policy 'ordered'")
      ->check(in_range(1, 1000));
  command
      .add_option("--replicate", args.replicate,
                  "Modes of which every process holds all factor rows: auto, none, or as in 2,3")
      ->capture_default_str();
  command
      .add_option(
          "--row-owners", args.row_owners,
          "Which process owns a factor row that several need: greedy, even (medium grain) or random (fine "
          "grain)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "even", "greedy", "random"}));
  add_cache_option(command, args.cache);
}

}  // namespace polyad::cli
