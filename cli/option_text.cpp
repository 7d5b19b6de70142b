#include "cli/option_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>

#include "polyad/base/error.hpp"

namespace polyad::cli {

void add_cache_option(CLI::App& command, std::string& folder) {
  command.add_option("--cache", folder,
                     "The folder where partitions of hypergraphs are cached (else polyad/partitions in "
                     "$XDG_CACHE_HOME or ~/.cache)");
}

std::string command_line_name(const std::string& field) {
  // Fields whose names are others, each with the name of its option.
  static const auto others = [] {
    std::istringstream list(
        "max_memory_bytes>memory;processes_per_machine>per-machine;max_iterations>iters;tolerance>tol;"
        "nonnegative>nonneg;"
        "scheme>distribution;num_free_primes>grid-primes;row_rule>row-owners;is_replicated>replicate;"
        "partition_file>partition;row_owners_file>row-owners;factors>rank;max_epochs>epochs;virtual_"
        "processes>virtual;"
        "learning_rate>lr;regularisation>reg;shrinkage>shrink;users>user;all_users>all;new_user>ratings;"
        "known_file>known;slice_weights>weights;effort>level;time_limit_seconds>time;"
        "previous_file>refine;previous_dims>refine-dims;num_largest>top;num_lines>lines;"
        "entries_per_mode>top;ranks>components;num_starts>starts;start>init;held_out>holdout;"
        "nonnegative_modes>nonneg;existing=replaced>force;header=false>no-header;header=true>header;"
        "LoadOptions::format>input-format;missing>missing-value;DecomposeOptions::missing>missing;"
        "MissingOptions::weights>weights;has_biases>biases;labels.none>labels none;labels.folder>labels;"
        "labels.files>labels;max_seconds>time-limit;");
    std::map<std::string, std::string> names;
    for (std::string of_field, name; std::getline(list, of_field, '>') && std::getline(list, name, ';');)
      names[of_field] = name;
    return names;
  }();
  const auto other = others.find(field);
  std::string name = "--" + (other == others.end() ? field : other->second);
  std::ranges::replace(name, '_', '-');
  return name;
}

void add_lists_option(CLI::App& command, std::string& lists, const std::string& help) {
  command.add_option("--lists", lists, help)
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "ranking", "ratings"}));
}

void add_new_items_option(CLI::App& command, std::string& file) {
  command.add_option(
      "--new-items", file,
      "Models of ratings: add new items with the ratings in this file, a user of the model, an "
      "item and a rating per line");
}

ListsBy parse_lists(const std::string& lists) {
  return lists == "auto" ? ListsBy::automatic : lists == "ranking" ? ListsBy::ranking : ListsBy::ratings;
}

CLI::Validator above_zero() {
  const auto check = [](const std::string& text) {
    double number = 0;
    const bool is_right = CLI::detail::lexical_cast(text, number) && number > 0;
    return is_right ? "" : fmt::format("expected a number above 0, not '{}'", text);
  };
  return {check, "POSITIVE"};
}

CLI::Validator from_zero() {
  const auto check = [](const std::string& text) {
    double number = 0;
    const bool is_right = CLI::detail::lexical_cast(text, number) && number >= 0;
    return is_right ? "" : fmt::format("expected 0 or a number above it, not '{}'", text);
  };
  return {check, "NONNEGATIVE"};
}

// What is no number at all, CLI11 refuses.
std::string fault_of_real(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);  // as CLI11 reads it
  const bool is_number = end == text.c_str() + text.size();
  return is_number && !std::isfinite(number) ? fmt::format("expected a finite number, not '{}'", text) : "";
}

static std::string fault_of_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return fmt::format("expected a whole number from 0 to 2^64 - 1, not '{}'", text);
}

void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& help) {
  command.add_option("--seed", seed, help)->capture_default_str()->check(fault_of_seed);
}

void add_memory_option(CLI::App& command, std::string& memory, const std::string& help) {
  const auto check = [](const std::string& text) {
    parse_bytes(text, "--memory");  // throws; an empty text would else mean that it was not given
    return std::string();
  };
  command.add_option("--memory", memory, help)->check(check);
}

void add_checkpoint_options(CLI::App& command, CheckpointTexts& texts) {
  auto* checkpoint =
      command.add_option("--checkpoint", texts.directory,
                         "Keep the state of the run in this directory; the same command goes on from there");
  command
      .add_option("--every", texts.every,
                  "Time between checkpoints, as in 10min, or iterations (epochs), as in 20it")
      ->needs(checkpoint)
      ->capture_default_str();
  command.add_option("--keep", texts.keep, "Number of checkpoints to keep, the newest")
      ->needs(checkpoint)
      ->capture_default_str()
      ->check(in_range(1, 1000));
  command.add_option("--time-limit", texts.time_limit,
                     "Stop before this time is over, as in 1h50m, with the model so far (exit code 4)");
}

}  // namespace polyad::cli
