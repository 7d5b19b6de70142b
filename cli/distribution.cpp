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
    return LayerPolicy{LayerPolicy::Kind::ordered, args.policy_c};
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
  using Partition = DistributionOptions::Partition;
  using Rule = DistributionOptions::GridRule;
  DistributionOptions options;
  options.scheme = parse_scheme(args.scheme);
  options.partition_file = partition_file(args);
  options.partition = !options.partition_file.empty()  ? Partition::file
                      : args.partition == "random"     ? Partition::random
                      : args.partition == "block"      ? Partition::block
                      : args.partition == "hypergraph" ? Partition::hypergraph
                                                       : Partition::any;
  options.cache = args.cache;
  options.grid = parse_grid(args.grid, order);
  options.grid_rule = args.grid == "splatt"      ? Rule::splatt
                      : args.grid == "predicted" ? Rule::predicted
                                                 : Rule::fastest;
  options.num_free_primes = args.num_free_primes;
  options.policy = parse_policy(args);
  options.row_rule = args.row_owners == "random" ? RowRule::random : RowRule::greedy;
  options.seed = seed;
  options.is_replicated = parse_replicated(args.replicate, order);
  return options;
}

std::string partition_file(const DistributionArgs& args) {
  const auto& name = args.partition;
  const bool is_known = name == "auto" || name == "block" || name == "random" || name == "hypergraph";
  return is_known ? "" : name;
}

void add_distribution_options(CLI::App& command, DistributionArgs& args) {
  command
      .add_option("--distribution", args.scheme,
                  "Among processes: whole slices, blocks of a grid, or nonzeros")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "coarse", "medium", "fine"}));
  command
      .add_option(
          "--partition", args.partition,
          "auto, block, random, hypergraph, or a file with a part per nonzero (fine) or slice (coarse)")
      ->capture_default_str();
  command.add_option("--grid", args.grid, "Of medium grain: 2x3x1, auto, or by rule: splatt, predicted")
      ->capture_default_str();
  command
      .add_option("--grid-primes", args.num_free_primes, "How many prime factors auto and predicted try out")
      ->capture_default_str()
      ->check(in_range(1, 6));
  command.add_option("--policy", args.policy, "Of medium grain: how modes are cut into layers")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "nnz", "set", "ordered-1", "ordered-2", "max-min"}));
  command.add_option("--policy-c", args.policy_c, "The policy 'ordered' with any constant")
      ->check(in_range(1, 1000));
  command
      .add_option("--replicate", args.replicate,
                  "Modes of which every process has all rows, all-reduced: auto, none, or as in 2,3")
      ->capture_default_str();
  command.add_option("--row-owners", args.row_owners, "Of fine grain: who owns a row that several need")
      ->capture_default_str()
      ->check(CLI::IsMember({"greedy", "random"}));
  add_cache_option(command, args.cache);
}

}  // namespace polyad::cli
