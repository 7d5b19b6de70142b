#include "cli/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "cli/agreement.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "cli/partition_cache.hpp"
#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/io/partition_file.hpp"

namespace polyad::cli {
namespace {

// Whether something is said that only medium grain has.
bool cuts_modes(const DistributionArgs& args) {
  return args.grid != "auto" || args.policy != "auto" || args.policy_c != 0;
}

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

DistributionOptions parse(const DistributionArgs& args, std::uint64_t seed, int order) {
  using Partition = DistributionOptions::Partition;
  using Rule = DistributionOptions::GridRule;
  DistributionOptions options;
  options.scheme = cuts_modes(args) ? Scheme::medium : parse_scheme(args.scheme);
  options.allows_coarse = args.allows_coarse;
  options.partition = args.partition == "random"  ? Partition::random
                      : args.partition == "block" ? Partition::block
                                                  : Partition::any;
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

// No option is ignored: one that makes no sense with another is an error.
void check(const DistributionArgs& args) {
  if (cuts_modes(args) && args.scheme != "auto" && args.scheme != "medium")
    throw Error(Errc::bad_option,
                fmt::format("--grid and --policy are for medium grain, not for {}", args.scheme));
  const bool tries_grids =
      args.scheme != "coarse" && args.scheme != "fine" && (args.grid == "auto" || args.grid == "predicted");
  if (args.num_free_primes != DistributionArgs{}.num_free_primes && !tries_grids)
    throw Error(Errc::bad_option, "--grid-primes is for grids that are chosen: --grid auto or predicted");
  if (args.replicate != "auto" && args.replicate != "none" && args.scheme != "medium" &&
      args.scheme != "fine")
    throw Error(Errc::bad_option,
                "--replicate is for --distribution medium or fine: in coarse grain nothing is folded");
  if (args.row_owners != "greedy" && args.scheme != "fine")
    throw Error(Errc::bad_option, "--row-owners is for --distribution fine; the others say who owns a row");
  if (args.partition == "hypergraph" && (args.scheme == "medium" || cuts_modes(args)))
    throw Error(Errc::bad_option, "--partition hypergraph is for --distribution fine or coarse");
}

[[noreturn]] void ask_for_scheme(const DistributionArgs& args) {
  throw Error(
      Errc::bad_option,
      fmt::format("--partition {}: say whether it is for --distribution fine or coarse", args.partition));
}

// One line per data line of the tensor's file.
Distribution fine_from_file(const Comm& comm, const SparseTensor<double>& share, const std::string& path,
                            const Distributor& distributor) {
  const auto counts = comm.all_gather(share.num_nonzeros());
  const io::PartitionLines lines{std::accumulate(counts.begin(), counts.begin() + comm.rank(), Index(0)),
                                 share.num_nonzeros(),
                                 std::accumulate(counts.begin(), counts.end(), Index(0)), comm.size()};
  return distributor.fine_listed(collectively(comm, [&] { return io::read_partition(path, lines); }));
}

// [mode][slice], from all slices, mode after mode.
std::vector<std::vector<int>> by_mode(std::span<const int> all, std::span<const Index> extents) {
  std::vector<std::vector<int>> modes;
  auto at = all.begin();
  for (const Index extent : extents) {
    modes.emplace_back(at, at + extent);
    at += extent;
  }
  return modes;
}

// One line per slice, mode after mode.
Distribution coarse_from_file(const Comm& comm, const SparseTensor<double>& share, const std::string& path,
                              const Distributor& distributor) {
  const Index total = std::accumulate(share.extents().begin(), share.extents().end(), Index(0));
  const auto all = collectively(comm, [&] {
    return io::read_partition(path, {0, total, total, comm.size()});
  });
  return distributor.coarse_listed(by_mode(all, share.extents()));
}

Distribution from_file(const Comm& comm, const SparseTensor<double>& share, const DistributionArgs& args,
                       std::uint64_t seed) {
  require_same_files(comm, {args.partition});
  const Distributor distributor(comm, share, comm.size(), seed);
  return args.scheme == "fine" ? fine_from_file(comm, share, args.partition, distributor)
                               : coarse_from_file(comm, share, args.partition, distributor);
}

Distribution listed(const Comm& comm, const SparseTensor<double>& share, PartitionModel model,
                    std::vector<int> parts, std::uint64_t seed) {
  const Distributor distributor(comm, share, comm.size(), seed);
  auto distribution = model == PartitionModel::fine
                          ? distributor.fine_listed(std::move(parts))
                          : distributor.coarse_listed(by_mode(parts, share.extents()));
  distribution.partition = "hypergraph";
  return distribution;
}

// Fine grain unless coarse is asked for.
Distribution by_hypergraph(const Comm& comm, const SparseTensor<double>& share, const DistributionArgs& args,
                           std::uint64_t seed, const Console& console) {
  const auto model = args.scheme == "coarse" ? PartitionModel::coarse : PartitionModel::fine;
  auto kept = partition_or_reuse(comm, share, args.cache, hypergraph_options(model, comm.size(), seed));
  if (!kept.notice.empty()) console.warn(kept.notice);
  return listed(comm, share, model, std::move(kept.parts), seed);
}

// Partitions that are cached already, so far as they are among what was asked for.
std::vector<Distribution> kept_distributions(const Comm& comm, const SparseTensor<double>& share,
                                             const DistributionArgs& args, const DistributionOptions& options,
                                             const Console& console) {
  std::vector<Distribution> found;
  if (args.partition != "auto" || cuts_modes(args)) return found;
  for (const auto model : {PartitionModel::fine, PartitionModel::coarse}) {
    if (args.scheme != "auto" && args.scheme != to_string(model)) continue;
    if (args.scheme == "auto" && model == PartitionModel::coarse && !args.allows_coarse) continue;
    auto kept = kept_partition(comm, share, args.cache, hypergraph_options(model, comm.size(), options.seed));
    if (kept && !kept->notice.empty()) console.warn(kept->notice);
    if (!kept || !kept->is_found) continue;
    found.push_back(listed(comm, share, model, std::move(kept->parts), options.seed));
    found.back().row_rule = options.row_rule;
  }
  return found;
}

// Of a file with so many lines.
Scheme scheme_of_file(const DistributionArgs& args, const SparseTensor<double>& x, Index num_lines) {
  const Index slices = std::accumulate(x.extents().begin(), x.extents().end(), Index(0));
  const bool is_fine = num_lines == x.num_nonzeros() && args.scheme != "coarse";
  const bool is_coarse = num_lines == slices && args.scheme != "fine";
  if (args.scheme == "medium" || (is_fine && is_coarse)) ask_for_scheme(args);
  if (!is_fine && !is_coarse)
    throw Error(Errc::bad_input,
                fmt::format("has {} lines; expected {} for a part per nonzero (fine grain) or {} for one per "
                            "slice (coarse grain)",
                            num_lines, x.num_nonzeros(), slices),
                {args.partition, 0});
  return is_fine ? Scheme::fine : Scheme::coarse;
}

}  // namespace

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

ChosenDistribution decide_distribution(const Comm& comm, const SparseTensor<double>& share,
                                       const DistributionArgs& args, std::uint64_t seed, Index num_components,
                                       const MachineModel& machine, const MemoryLimit& limit,
                                       const Console& console) {
  const auto options = parse_distribution(args, seed, share.order());
  if (!partition_file(args).empty() && args.scheme != "fine" && args.scheme != "coarse") ask_for_scheme(args);
  if (!args.cache.empty() && (args.partition == "block" || args.partition == "random"))
    throw Error(Errc::bad_option, "--cache is for partitions of hypergraphs, not for " + args.partition);
  const bool is_hypergraph = args.partition == "hypergraph";
  if (comm.size() == 1 && is_hypergraph) return {};
  if (partition_file(args).empty() && !is_hypergraph) {
    // One process has all, whatever was asked for.
    if (comm.size() == 1 && (!options.grid || options.grid->size() == 1)) return {};
    return choose_distribution(comm, share, options, num_components, machine, limit,
                               kept_distributions(comm, share, args, options, console));
  }
  auto distribution =
      is_hypergraph ? by_hypergraph(comm, share, args, seed, console) : from_file(comm, share, args, seed);
  distribution.row_rule = options.row_rule;
  if (options.is_replicated) distribution.is_replicated = *options.is_replicated;
  return {std::move(distribution), {}};
}

DistributionOptions parse_distribution(const DistributionArgs& args, std::uint64_t seed, int order) {
  check(args);
  return parse(args, seed, order);
}

FurtherStrategies partition_from_file(const DistributionArgs& args, const SparseTensor<double>& x,
                                      std::span<const int> process_counts, RowRule row_rule) {
  auto parts = io::read_partition(args.partition, std::numeric_limits<int>::max());
  const auto scheme = scheme_of_file(args, x, std::ssize(parts));
  const int last = *std::ranges::max_element(parts);
  const auto processes = std::ranges::upper_bound(process_counts, last);
  if (processes == process_counts.end())
    throw Error(Errc::bad_input,
                fmt::format("has {} parts; no number of processes that was asked for is so large", last + 1),
                {args.partition, 0});
  return [=, wanted = *processes, &x, parts = std::move(parts)](const Distributor& distributor) {
    std::vector<Strategy> found;
    if (distributor.num_parts() != wanted) return found;
    found.push_back({scheme, "file", {}, {}, [&distributor, &x, &parts, scheme, row_rule] {
                       auto made = scheme == Scheme::fine
                                       ? distributor.fine_listed(parts)
                                       : distributor.coarse_listed(by_mode(parts, x.extents()));
                       made.row_rule = row_rule;
                       return made;
                     }});
    return found;
  };
}

FurtherStrategies partitions_of_hypergraphs(const SparseTensor<double>& x, const std::string& cache,
                                            const DistributionOptions& options, double most_seconds,
                                            std::vector<std::string>& notices) {
  const auto make = [&x, &notices, cache, options, most_seconds](const Distributor& distributor,
                                                                 Scheme scheme) {
    const auto model = scheme == Scheme::fine ? PartitionModel::fine : PartitionModel::coarse;
    auto how = hypergraph_options(model, distributor.num_parts(), options.seed);
    how.hypergraph.most_seconds = most_seconds;
    auto kept = partition_and_keep(x, cache, how);
    if (!kept.notice.empty())
      notices.push_back(fmt::format("{} hypergraph for {} processes: {}", to_string(scheme),
                                    distributor.num_parts(), kept.notice));
    auto made = scheme == Scheme::fine ? distributor.fine_listed(std::move(kept.parts))
                                       : distributor.coarse_listed(by_mode(kept.parts, x.extents()));
    made.row_rule = options.row_rule;
    return made;
  };
  return [make, options](const Distributor& distributor) {
    std::vector<Strategy> found;
    for (const auto scheme : {Scheme::fine, Scheme::coarse})
      if (!options.scheme || *options.scheme == scheme)
        found.push_back({scheme, "hypergraph", {}, {}, [make, &distributor, scheme] {
                           return make(distributor, scheme);
                         }});
    return found;
  };
}

}  // namespace polyad::cli
