#include "polyad/tasks/detail/decide_distribution.hpp"
#include "polyad/tasks/detail/task_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/io/hypergraphs/partition_file.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/partition_cache.hpp"

namespace polyad::tasks {
namespace {

using Partition = DistributionOptions::Partition;
using GridRule = DistributionOptions::GridRule;

// Whether an option is given that applies to medium grain only.
bool cuts_modes(const DistributionOptions& options) {
  return options.grid || options.grid_rule != GridRule::fastest || options.policy;
}

void check_policy(const LayerPolicy& policy) {
  require_enumerator("policy", policy.kind, LayerPolicy::Kind::interleaved);
  if (policy.c < 1)
    refuse_option(fmt::format("{} {}: expected a number from 1", option_name("policy"), to_string(policy)));
}

void check_grid(const DistributionOptions& options) {
  if (cuts_modes(options) && options.scheme && options.scheme != Scheme::medium)
    refuse_option(fmt::format("{} and {} are for medium grain, not for {}", option_name("grid"),
                              option_name("policy"), to_string(*options.scheme)));
  const bool tries_grids = options.scheme != Scheme::coarse && options.scheme != Scheme::fine &&
                           !options.grid && options.grid_rule != GridRule::splatt;
  if (options.num_free_primes != DistributionOptions{}.num_free_primes && !tries_grids)
    refuse_option(fmt::format("{} is for grids that are chosen: {} auto or predicted",
                              option_name("num_free_primes"), option_name("grid")));
}

void check_rows(const DistributionOptions& options) {
  const bool replicates = options.is_replicated && std::ranges::count(*options.is_replicated, true) > 0;
  if (replicates && options.scheme != Scheme::medium && options.scheme != Scheme::fine)
    refuse_option(fmt::format("{} is for {} medium or fine: in coarse grain nothing is folded",
                              option_name("is_replicated"), option_name("scheme")));
  const auto refuse_rule = [&](const char* scheme) {
    const bool is_file = options.row_rule == RowRule::file;
    refuse_option(fmt::format("{} {} is for {} {}", option_name("row_rule"),
                              is_file ? options.row_owners_file.string() : to_string(*options.row_rule),
                              option_name("scheme"), scheme));
  };
  if (options.row_rule == RowRule::random && options.scheme != Scheme::fine) refuse_rule("fine");
  if (options.row_rule == RowRule::even && options.scheme != Scheme::medium && !cuts_modes(options))
    refuse_rule("medium");
  const bool is_of_parts = options.row_rule == RowRule::greedy || options.row_rule == RowRule::balanced ||
                           options.row_rule == RowRule::file;
  if (is_of_parts && options.scheme == Scheme::coarse)
    refuse_rule("medium or fine: in coarse grain rows belong to slices");
  if ((options.row_rule == RowRule::file) == options.row_owners_file.empty())
    refuse_option(fmt::format("{}: a file is named if and only if it lists the owners of rows",
                              option_name("row_owners_file")));
  if (options.row_rule == RowRule::file && options.is_replicated &&
      std::ranges::count(*options.is_replicated, false) == 0)
    refuse_option(fmt::format("{} {}: all modes are replicated ({}), so that no row has an owner",
                              option_name("row_rule"), options.row_owners_file.string(),
                              option_name("is_replicated")));
}

[[noreturn]] void ask_for_scheme(const DistributionOptions& options) {
  refuse_option(fmt::format("{} {}: say whether it is for {} fine or coarse", option_name("partition"),
                            options.partition_file.string(), option_name("scheme")));
}

// On one process a partition has no effect, whatever it is for.
int max_parts_of_file(const Comm& comm) {
  return comm.size() == 1 ? std::numeric_limits<int>::max() : comm.size();
}

// Why a file has no more parts; empty where it may.
std::string size_of_run(const Comm& comm) {
  if (comm.size() == 1) return "";
  return fmt::format("the run has {} processes", comm.size());
}

// One line per data line of the tensor's file.
Distribution fine_from_file(const Comm& comm, const SparseTensor<double>& share,
                            const std::filesystem::path& path, const Distributor& distributor) {
  const auto counts = comm.all_gather(share.num_nonzeros());
  io::PartitionLines lines{std::accumulate(counts.begin(), counts.begin() + comm.rank(), Index(0)),
                           share.num_nonzeros(), std::accumulate(counts.begin(), counts.end(), Index(0)),
                           max_parts_of_file(comm)};
  lines.thing = "nonzero";
  lines.why_no_more = size_of_run(comm);
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
std::vector<std::vector<int>> slices_from_file(const std::filesystem::path& path,
                                               std::span<const Index> extents, int num_parts,
                                               const std::string& why_no_more) {
  const Index total = hypergraph::num_slices(extents);
  io::PartitionLines lines{0, total, total, num_parts};
  lines.thing = "slice of all modes";
  lines.why_no_more = why_no_more;
  return by_mode(io::read_partition(path, lines), extents);
}

Distribution coarse_from_file(const Comm& comm, const SparseTensor<double>& share,
                              const std::filesystem::path& path, const Distributor& distributor) {
  return distributor.coarse_listed(collectively(comm, [&] {
    return slices_from_file(path, share.extents(), max_parts_of_file(comm), size_of_run(comm));
  }));
}

Distribution from_file(const Comm& comm, const SparseTensor<double>& share,
                       const DistributionOptions& options) {
  const auto& path = options.partition_file;
  require_same_files(comm, {path.string()});
  const Distributor distributor(comm, share, comm.size(), options.seed);
  return options.scheme == Scheme::fine ? fine_from_file(comm, share, path, distributor)
                                        : coarse_from_file(comm, share, path, distributor);
}

Distribution listed(const Comm& comm, const SparseTensor<double>& share, hypergraph::PartitionModel model,
                    std::vector<int> parts, std::uint64_t seed) {
  const Distributor distributor(comm, share, comm.size(), seed);
  auto distribution = model == hypergraph::PartitionModel::fine
                          ? distributor.fine_listed(std::move(parts))
                          : distributor.coarse_listed(by_mode(parts, share.extents()));
  distribution.partition = "hypergraph";
  return distribution;
}

// Fine grain unless coarse grain is given.
Distribution by_hypergraph(const Context& context, const SparseTensor<double>& share,
                           const DistributionOptions& options) {
  const Comm& comm = context.comm();
  const auto model = options.scheme == Scheme::coarse ? hypergraph::PartitionModel::coarse
                                                      : hypergraph::PartitionModel::fine;
  const auto how = hypergraph_options(model, comm.size(), options.seed);
  auto kept = partition_or_reuse(comm, share, options.cache.string(), how);
  if (!kept.notice.empty()) context.warn(kept.notice);
  return listed(comm, share, model, std::move(kept.parts), options.seed);
}

// Whether the options allow this scheme.
bool allows(const DistributionOptions& options, Scheme scheme) {
  return options.scheme ? options.scheme == scheme : scheme != Scheme::coarse || options.allows_coarse;
}

// Cached partitions, as far as the options allow them.
std::vector<Distribution> kept_distributions(const Context& context, const SparseTensor<double>& share,
                                             const DistributionOptions& options) {
  const Comm& comm = context.comm();
  std::vector<Distribution> found;
  if (options.partition != Partition::any || cuts_modes(options)) return found;
  for (const auto model : {hypergraph::PartitionModel::fine, hypergraph::PartitionModel::coarse}) {
    const auto scheme = model == hypergraph::PartitionModel::fine ? Scheme::fine : Scheme::coarse;
    if (!allows(options, scheme)) continue;
    const auto how = hypergraph_options(model, comm.size(), options.seed);
    auto kept = kept_partition(comm, share, options.cache.string(), how);
    if (kept && !kept->notice.empty()) context.warn(kept->notice);
    if (!kept || !kept->is_found) continue;
    found.push_back(listed(comm, share, model, std::move(kept->parts), options.seed));
  }
  return found;
}

hypergraph::PartitionModel model_of(Scheme scheme) {
  return scheme == Scheme::fine ? hypergraph::PartitionModel::fine : hypergraph::PartitionModel::coarse;
}

Distribution listed(const Distributor& distributor, const SparseTensor<double>& x, Scheme scheme,
                    std::vector<int> parts, const char* partition) {
  auto made = scheme == Scheme::fine ? distributor.fine_listed(std::move(parts))
                                     : distributor.coarse_listed(by_mode(parts, x.extents()));
  made.partition = partition;
  return made;
}

Strategy hypergraph_strategy(Scheme scheme, const DistributionOptions& options,
                             std::function<Distribution()> make) {
  const auto rule = options.row_rule.value_or(RowRule::greedy);
  return {scheme,         "hypergraph", {}, {}, scheme == Scheme::fine ? std::optional(rule) : std::nullopt,
          std::move(make)};
}

// The distribution of a partition file with this number of lines.
Scheme scheme_of_file(const DistributionOptions& options, const SparseTensor<double>& x, Index num_lines) {
  const Index slices = hypergraph::num_slices(x.extents());
  const bool is_fine = num_lines == x.num_nonzeros() && options.scheme != Scheme::coarse;
  const bool is_coarse = num_lines == slices && options.scheme != Scheme::fine;
  if (options.scheme == Scheme::medium || (is_fine && is_coarse)) ask_for_scheme(options);
  if (!is_fine && !is_coarse)
    throw Error(Errc::bad_input,
                fmt::format("has {} lines; expected {} for a part per nonzero (fine grain) or {} for one per "
                            "slice (coarse grain)",
                            num_lines, x.num_nonzeros(), slices),
                {options.partition_file.string(), 0});
  return is_fine ? Scheme::fine : Scheme::coarse;
}

}  // namespace

DistributionOptions checked(DistributionOptions options) {
  require_enumerator("partition", options.partition, Partition::file);
  require_enumerator("grid_rule", options.grid_rule, GridRule::predicted);
  if (options.row_rule) require_enumerator("row_rule", *options.row_rule, RowRule::file);
  if (options.scheme) require_enumerator("scheme", *options.scheme, Scheme::fine);
  for (const auto& exchange : options.exchange)
    require_enumerator("exchange", exchange.kind, Exchange::Kind::routed);
  require_partition_file(options.partition == Partition::file, options.partition_file);
  if (options.policy) check_policy(*options.policy);
  check_grid(options);
  check_rows(options);
  if (options.partition == Partition::hypergraph && (options.scheme == Scheme::medium || cuts_modes(options)))
    refuse_option(fmt::format("{} hypergraph is for {} fine or coarse", option_name("partition"),
                              option_name("scheme")));
  if (cuts_modes(options)) options.scheme = Scheme::medium;
  if (options.row_rule == RowRule::file) options.allows_coarse = false;
  return options;
}

ChosenDistribution decide_distribution(const Context& context, const SparseTensor<double>& share,
                                       const DistributionOptions& asked_for, Index num_components,
                                       const MachineModel& machine, const PassOptions& passes,
                                       const MemoryLimit& limit) {
  const Comm& comm = context.comm();
  const auto options = checked(asked_for);
  const bool is_file = options.partition == Partition::file;
  const bool is_hypergraph = options.partition == Partition::hypergraph;
  if (is_file && options.scheme != Scheme::fine && options.scheme != Scheme::coarse) ask_for_scheme(options);
  if (!options.cache.empty() &&
      (options.partition == Partition::block || options.partition == Partition::random))
    refuse_option(fmt::format("{} is for partitions of hypergraphs, not for {}", option_name("cache"),
                              options.partition == Partition::block ? "block" : "random"));
  GivenParts given;
  if (options.row_rule == RowRule::file) {
    require_same_files(comm, {options.row_owners_file.string()});
    given.rows = collectively(comm, [&] {
      return rows_from_file(options, share.extents(), max_parts_of_file(comm), size_of_run(comm));
    });
  }
  if (comm.size() == 1 && is_hypergraph) return {};
  if (!is_file && !is_hypergraph) {
    // A single process has all nonzeros, whatever the options.
    if (comm.size() == 1 && (!options.grid || options.grid->size() == 1)) return {};
    given.distributions = kept_distributions(context, share, options);
    return choose_distribution(comm, share, options, num_components, machine, passes, limit,
                               std::move(given));
  }
  auto distribution =
      is_hypergraph ? by_hypergraph(context, share, options) : from_file(comm, share, options);
  if (comm.size() == 1) return {};
  given.distributions.push_back(std::move(distribution));
  return choose_distribution(comm, share, options, num_components, machine, passes, limit, std::move(given));
}

std::vector<RowOwners> rows_from_file(const DistributionOptions& options, std::span<const Index> extents,
                                      int num_parts, const std::string& why_no_more) {
  std::vector<RowOwners> rows;
  for (auto& parts : slices_from_file(options.row_owners_file, extents, num_parts, why_no_more))
    rows.emplace_back(ListedRows{{}, std::move(parts)});
  return rows;
}

FurtherStrategies partition_from_file(const DistributionOptions& options, const SparseTensor<double>& x,
                                      std::span<const int> process_counts) {
  auto parts = io::read_partition(options.partition_file, std::numeric_limits<int>::max());
  const auto scheme = scheme_of_file(options, x, std::ssize(parts));
  auto of_file = options;
  of_file.scheme = scheme;
  check_rows(of_file);
  const auto row_rule = options.row_rule.value_or(RowRule::greedy);
  const int last = parts.empty() ? 0 : *std::ranges::max_element(parts);
  const auto processes = std::ranges::upper_bound(process_counts, last);
  if (processes == process_counts.end())
    throw Error(Errc::bad_input,
                fmt::format("has {} parts, more than all given numbers of processes", last + 1),
                {options.partition_file.string(), 0});
  return [=, wanted = *processes, &x, parts = std::move(parts)](const Distributor& distributor) {
    std::vector<Strategy> found;
    if (distributor.num_parts() != wanted) return found;
    found.push_back({scheme,
                     "file",
                     {},
                     {},
                     scheme == Scheme::fine ? std::optional(row_rule) : std::nullopt,
                     [&distributor, &x, &parts, scheme, row_rule] {
                       return scheme == Scheme::fine
                                  ? distributor.with_owners(distributor.fine_listed(parts), row_rule)
                                  : distributor.coarse_listed(by_mode(parts, x.extents()));
                     }});
    return found;
  };
}

FurtherStrategies partitions_of_hypergraphs(const SparseTensor<double>& x, const DistributionOptions& options,
                                            double time_limit_seconds, std::vector<std::string>& notices) {
  const auto make = [&x, &notices, options, time_limit_seconds](const Distributor& distributor,
                                                                Scheme scheme) {
    auto how = hypergraph_options(model_of(scheme), distributor.num_parts(), options.seed);
    how.hypergraph.time_limit_seconds = time_limit_seconds;
    auto kept = partition_and_keep(x, options.cache.string(), how);
    if (!kept.notice.empty())
      notices.push_back(fmt::format("{} hypergraph for {} processes: {}", to_string(scheme),
                                    distributor.num_parts(), kept.notice));
    return listed(distributor, x, scheme, std::move(kept.parts), "hypergraph");
  };
  return [make, options](const Distributor& distributor) {
    std::vector<Strategy> found;
    for (const auto scheme : {Scheme::fine, Scheme::coarse})
      if (allows(options, scheme))
        found.push_back(hypergraph_strategy(
            scheme, options, [make, &distributor, scheme] { return make(distributor, scheme); }));
    return found;
  };
}

FurtherStrategies kept_partitions_of_hypergraphs(const SparseTensor<double>& x,
                                                 const DistributionOptions& options) {
  return [&x, options](const Distributor& distributor) {
    std::vector<Strategy> found;
    const int num_parts = distributor.num_parts();
    if (options.partition != Partition::any || num_parts == 1 || num_parts > hypergraph::max_parts)
      return found;
    for (const auto scheme : {Scheme::fine, Scheme::coarse}) {
      if (!allows(options, scheme)) continue;
      const auto how = hypergraph_options(model_of(scheme), num_parts, options.seed);
      auto kept = kept_partition(Comm::self(), x, options.cache.string(), how);
      if (!kept || !kept->is_found) continue;
      found.push_back(
          hypergraph_strategy(scheme, options, [&distributor, &x, scheme, parts = std::move(kept->parts)] {
            return listed(distributor, x, scheme, parts, "hypergraph");
          }));
    }
    return found;
  };
}

}  // namespace polyad::tasks
