#include "polyad/tasks/distribution_texts.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
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

[[noreturn]] void refuse_exchange(const std::string& text) {
  throw Error(
      Errc::bad_option,
      fmt::format("{} {}: expected auto, direct, routed or routed:K with K stages from 2 to 30, or one "
                  "of these for each mode, as in direct,routed:3,direct",
                  option_name("exchange"), text));
}

Exchange parse_one_exchange(const std::string& one, const std::string& text) {
  using Kind = Exchange::Kind;
  constexpr std::string_view with_stages = "routed:";
  if (one == "auto") return {};
  if (one == "direct") return {Kind::direct, 0};
  if (one == "routed") return {Kind::routed, 0};
  if (!one.starts_with(with_stages)) refuse_exchange(text);
  const auto number = one.substr(with_stages.size());
  int num_stages = 0;
  const auto* const end = number.data() + number.size();
  const auto [at, error] = std::from_chars(number.data(), end, num_stages);
  if (error != std::errc() || at != end || num_stages < 2 || num_stages > 30) refuse_exchange(text);
  return {Kind::routed, num_stages};
}

std::vector<Exchange> parse_exchange(const std::string& text, int order) {
  std::vector<Exchange> all;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    all.push_back(parse_one_exchange(text.substr(begin, end - begin), text));
  }
  if (all.size() > 1 && std::ssize(all) != order) refuse_exchange(text);
  if (all.size() == 1 && all.front() == Exchange{}) all.clear();
  return all;
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
  options.row_rule = parse_row_rule(texts);
  options.row_owners_file = row_owners_file(texts);
  options.seed = seed;
  options.is_replicated = parse_replicated(texts.replicate, order);
  options.exchange = parse_exchange(texts.exchange, order);
  return options;
}

std::vector<std::string> partition_words() {
  return {"auto", "block", "random", "hypergraph"};
}

std::vector<std::string> row_owners_words() {
  return {"auto", "greedy", "balanced", "even", "random"};
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

std::optional<RowRule> parse_row_rule(const DistributionTexts& texts) {
  if (texts.row_owners == "auto") return std::nullopt;
  for (const auto rule : {RowRule::even, RowRule::greedy, RowRule::balanced, RowRule::random})
    if (texts.row_owners == to_string(rule)) return rule;
  return RowRule::file;
}

std::string row_owners_file(const DistributionTexts& texts) {
  return parse_row_rule(texts) == RowRule::file ? texts.row_owners : "";
}

}  // namespace polyad
