#include "polyad/tasks/distribution_texts.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/tasks/option_values.hpp"

namespace polyad {
namespace {

std::optional<Scheme> parse_scheme(const std::string& text) {
  for (const auto scheme : {Scheme::coarse, Scheme::medium, Scheme::fine})
    if (text == to_string(scheme)) return scheme;
  return std::nullopt;
}

std::optional<LayerPolicy> parse_policy(const DistributionTexts& texts) {
  const auto policy_option = option_name("policy"), c_option = option_name("policy_c");
  if (texts.policy_c != 0) {
    if (texts.policy != "auto" && !texts.policy.starts_with("ordered"))
      throw Error(Errc::bad_option,
                  fmt::format("{} is for the policy 'ordered', not for {}", c_option, texts.policy));
    const LayerPolicy policy{LayerPolicy::Kind::ordered, texts.policy_c};
    if (texts.policy != "auto" && texts.policy != to_string(policy))
      throw Error(Errc::bad_option, fmt::format("{} {} and {} {} contradict each other", policy_option,
                                                texts.policy, c_option, texts.policy_c));
    return policy;
  }
  for (const auto& policy : all_policies())
    if (texts.policy == to_string(policy)) return policy;
  return std::nullopt;
}

std::optional<GridShape> parse_grid_of_order(const std::string& text, int order) {
  if (text == "auto" || text == "splatt" || text == "predicted") return std::nullopt;
  auto grid = parse_grid_shape(text);
  if (grid.order() != order)
    throw Error(Errc::bad_option, fmt::format("{} {}: expected a number for each of the {} modes",
                                              option_name("grid"), text, order));
  return grid;
}

// "auto", "none" or "2,3"; from 1.
std::optional<std::vector<bool>> parse_replicated(const std::string& text, int order) {
  if (text == "auto") return std::nullopt;
  std::vector<bool> modes(std::size_t(order), false);
  if (text == "none") return modes;
  for (const int mode : parse_modes(text)) {
    if (mode < 0 || mode >= order)
      throw Error(Errc::bad_option,
                  fmt::format("{} {}: expected auto, none, or modes from 1 to {}, as in 2,3",
                              option_name("is_replicated"), text, order));
    modes[mode] = true;
  }
  return modes;
}

}  // namespace

DistributionOptions parse_distribution(const DistributionTexts& texts, std::uint64_t seed, int order) {
  using Rule = DistributionOptions::GridRule;
  DistributionOptions options;
  options.scheme = parse_scheme(texts.scheme);
  options.partition_file = partition_file(texts);
  options.partition = parse_partition(texts);
  options.cache = texts.cache;
  options.grid = parse_grid_of_order(texts.grid, order);
  options.grid_rule = texts.grid == "splatt"      ? Rule::splatt
                      : texts.grid == "predicted" ? Rule::predicted
                                                  : Rule::fastest;
  options.num_free_primes = texts.num_free_primes;
  options.policy = parse_policy(texts);
  for (const auto rule : {RowRule::even, RowRule::greedy, RowRule::balanced, RowRule::random})
    if (texts.row_owners == to_string(rule)) options.row_rule = rule;
  options.seed = seed;
  options.is_replicated = parse_replicated(texts.replicate, order);
  return options;
}

DistributionOptions::Partition parse_partition(const DistributionTexts& texts) {
  using Partition = DistributionOptions::Partition;
  if (texts.partition == "auto") return Partition::any;
  if (texts.partition == "random") return Partition::random;
  if (texts.partition == "block") return Partition::block;
  if (texts.partition == "hypergraph") return Partition::hypergraph;
  return Partition::file;
}

std::string partition_file(const DistributionTexts& texts) {
  return parse_partition(texts) == DistributionOptions::Partition::file ? texts.partition : "";
}

}  // namespace polyad
