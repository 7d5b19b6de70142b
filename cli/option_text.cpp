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
        "max_memory_bytes>memory;max_iterations>iters;tolerance>tol;nonnegative>nonneg;"
        "scheme>distribution;num_free_primes>grid-primes;row_rule>row-owners;is_replicated>replicate;"
        "partition_file>partition;factors>rank;max_epochs>epochs;virtual_processes>virtual;"
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

// What is no number at all, CLI11 refuses.
std::string fault_of_real(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);  // as CLI11 reads it
  const bool is_number = end == text.c_str() + text.size();
  return is_number && !std::isfinite(number) ? fmt::format("expected a finite number, not '{}'", text) : "";
}

std::string fault_of_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return fmt::format("expected a whole number from 0 to 2^64 - 1, not '{}'", text);
}

std::string fault_of_memory(const std::string& text) {
  parse_bytes(text, "--memory");
  return "";
}

}  // namespace polyad::cli
