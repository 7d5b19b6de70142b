#include "polyad/tasks/partition.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/hypergraph/external_partitioner.hpp"
#include "polyad/io/hypergraphs/hmetis_file.hpp"
#include "polyad/io/hypergraphs/partition_file.hpp"
#include "polyad/report/partition_report.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/output/output_files.hpp"
#include "polyad/tasks/detail/partition_cache.hpp"
#include "polyad/tasks/detail/previous_parts.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tensor/slice_counts.hpp"

namespace polyad {

struct Partition::State {
  report::PartitionRun run;
  std::vector<int> row_owners;
};

namespace {

// Whether it looks for a good partition, which is worth caching.
bool searches(PartitionMethod method) {
  return method != PartitionMethod::block && method != PartitionMethod::random;
}

bool is_external(PartitionMethod method) {
  return method == PartitionMethod::zoltan || method == PartitionMethod::mt_kahypar;
}

void check_range(const char* field, double value, double minimum, double maximum) {
  if (!(value >= minimum && value <= maximum))
    tasks::refuse_option(
        fmt::format("{} {}: expected a number from {} to {}", option_name(field), value, minimum, maximum));
}

void check_ranges(const PartitionOptions& options) {
  if (options.parts < 1 || options.parts > hypergraph::max_parts)
    tasks::refuse_option(fmt::format("{} {}: expected a number from 1 to {}", option_name("parts"),
                                     options.parts, hypergraph::max_parts));
  check_range("rho", options.rho, 1, 8);
  check_range("imbalance", options.imbalance, 0, 100);
  if (!(options.time_limit_seconds >= 0) || std::isinf(options.time_limit_seconds))
    tasks::refuse_option(fmt::format("{} {}: expected a number of seconds, or 0 for no limit",
                                     option_name("time_limit_seconds"), options.time_limit_seconds));
}

void check_external_method(const PartitionOptions& options) {
  const bool is_zoltan = options.method == PartitionMethod::zoltan;
  if (is_zoltan && !hypergraph::has_zoltan()) tasks::refuse_option(hypergraph::no_zoltan);
  if (!is_zoltan && !hypergraph::has_mt_kahypar()) tasks::refuse_option(hypergraph::no_mt_kahypar);
  if (options.model == PartitionModel::fine_with_rows)
    tasks::refuse_option(
        fmt::format("{} balances one weight; {} {} has one for nonzeros and one for the rows of each mode",
                    is_zoltan ? "Zoltan" : "Mt-KaHyPar", option_name("model"), to_string(options.model)));
  if (options.model == PartitionModel::coarse && options.slice_weights == SliceWeights::per_mode)
    tasks::refuse_option(
        fmt::format("{} balances one weight, and slices have one for each mode: {} coarse requires {} "
                    "together",
                    is_zoltan ? "Zoltan" : "Mt-KaHyPar", option_name("model"), option_name("slice_weights")));
}

void check_enumerators(const PartitionOptions& options) {
  tasks::require_enumerator("model", options.model, PartitionModel::fine_with_rows);
  tasks::require_enumerator("slice_weights", options.slice_weights, SliceWeights::together);
  tasks::require_enumerator("method", options.method, PartitionMethod::mt_kahypar);
  tasks::require_enumerator("metric", options.metric, PartitionMetric::lambda_power);
  tasks::require_enumerator("effort", options.effort, Effort::best);
}

// No option may be given that the method would ignore.
void check_method(const PartitionOptions& options) {
  const PartitionOptions defaults;
  const auto method = to_string(options.method);
  const bool is_own = searches(options.method) && !is_external(options.method);
  if (!is_own && (options.effort != defaults.effort || options.time_limit_seconds > 0 ||
                  options.metric != defaults.metric))
    tasks::refuse_option(fmt::format("{}, {} and {} require {} hypergraph or bisection, not {}",
                                     option_name("effort"), option_name("time_limit_seconds"),
                                     option_name("metric"), option_name("method"), method));
  if (options.metric != PartitionMetric::lambda_power && options.rho != defaults.rho)
    tasks::refuse_option(fmt::format("{} requires {} {}", option_name("rho"), option_name("metric"),
                                     to_string(PartitionMetric::lambda_power)));
  if (!searches(options.method) && options.imbalance != defaults.imbalance)
    tasks::refuse_option(
        fmt::format("{} requires a method that searches, not {}", option_name("imbalance"), method));
  if (is_external(options.method)) check_external_method(options);
  if (options.method == PartitionMethod::block && options.seed != defaults.seed)
    tasks::refuse_option(fmt::format("{} has no effect with {} block, which is not random",
                                     option_name("seed"), option_name("method")));
}

void check_cache(const PartitionOptions& options) {
  if (options.cache.empty()) return;
  if (options.no_cache || !searches(options.method))
    tasks::refuse_option(fmt::format("{} requires a method that searches and cannot be combined with {}",
                                     option_name("cache"), option_name("no_cache")));
}

void check_previous(const PartitionOptions& options) {
  if (!options.previous_file.empty() && options.method != PartitionMethod::hypergraph)
    tasks::refuse_option(
        fmt::format("{} requires {} hypergraph", option_name("previous_file"), option_name("method")));
  if (!options.previous_file.empty() && options.model == PartitionModel::fine_with_rows)
    tasks::refuse_option(fmt::format("{} has parts of one kind; {} {} has those of nonzeros and of rows",
                                     option_name("previous_file"), option_name("model"),
                                     to_string(options.model)));
  if (!options.previous_dims.empty() &&
      (options.previous_file.empty() || options.model != PartitionModel::coarse))
    tasks::refuse_option(fmt::format("{} requires {} and {} coarse", option_name("previous_dims"),
                                     option_name("previous_file"), option_name("model")));
}

hypergraph::PartitionOptions search_options(const PartitionOptions& options) {
  hypergraph::PartitionOptions search;
  search.num_parts = options.parts;
  search.imbalance = options.imbalance;
  if (options.metric == PartitionMetric::lambda_power)
    search.objective.kind = hypergraph::Objective::Kind::lambda_power;
  search.objective.rho = options.rho;
  search.effort = options.effort;
  search.seed = options.seed;
  if (options.time_limit_seconds > 0) search.time_limit_seconds = options.time_limit_seconds;
  return search;
}

hypergraph::TensorPartitionOptions tensor_options(const PartitionOptions& options) {
  return {options.model, options.slice_weights, options.method, search_options(options)};
}

// `things`: what is partitioned.
void check_num_parts(const PartitionOptions& options, Index count, const char* things) {
  if (count < options.parts)
    tasks::refuse_option(fmt::format("{} {}: there are only {} {}, and no part may be empty",
                                     option_name("parts"), options.parts, count, things));
}

const char* partitioned_things(PartitionModel model) {
  switch (model) {
    case PartitionModel::coarse:
      return "slices with nonzeros";
    case PartitionModel::row:
      return "rows with nonzeros";
    case PartitionModel::column:
      return "columns with nonzeros";
    case PartitionModel::fine:
    case PartitionModel::fine_with_rows:
      break;
  }
  return "nonzeros";
}

// Before a search, which takes long. Nonzeros of the same coordinates, which count once, are found by it.
void check_num_parts(const PartitionOptions& options, const SparseTensor<double>& x) {
  const bool has_slices =
      options.model != PartitionModel::fine && options.model != PartitionModel::fine_with_rows;
  Index count = has_slices ? 0 : x.num_nonzeros();
  for (int m = 0; has_slices && m < x.order() && count < options.parts; ++m) {
    const bool is_asked_for =
        options.model == PartitionModel::coarse || m == (options.model == PartitionModel::row ? 0 : 1);
    if (is_asked_for) count += std::ssize(count_slices(x.indices(m), x.extents()[m]).slices);
  }
  check_num_parts(options, count, partitioned_things(options.model));
}

// Partitions of a tensor in the cache: only those that another run would make again.
class Cache {
 public:
  Cache(const Context& context, const Tensor& x, const PartitionOptions& options)
      : context_(context),
        is_used_(!options.no_cache && options.previous_file.empty() && searches(options.method) &&
                 options.method != PartitionMethod::mt_kahypar),
        folder_(tasks::cache_folder(options.cache.string())) {
    if (is_used_) key_ = tasks::partition_key(context.comm(), x.tensor, tensor_options(options));
  }

  std::optional<std::vector<int>> find() const {
    if (!is_used_) return std::nullopt;
    auto stored = tasks::read_stored_partition(folder_, key_);
    if (!stored.notice.empty()) context_.warn(stored.notice);
    return std::move(stored.parts);
  }

  void store(const hypergraph::TensorPartition& partition) const {
    if (!is_used_ || partition.was_cut_short) return;
    const auto notice = tasks::store_partition(folder_, key_, partition.parts);
    if (!notice.empty()) context_.warn(notice);
  }

 private:
  const Context& context_;
  bool is_used_;
  std::filesystem::path folder_;
  tasks::PartitionKey key_;
};

Partition finished(report::PartitionRun run, double seconds, std::vector<int> row_owners = {}) {
  run.partition_seconds = seconds;
  run.threads = num_threads();
  run.peak_memory_bytes = peak_memory_bytes();
  return Partition(
      std::make_shared<const Partition::State>(Partition::State{std::move(run), std::move(row_owners)}));
}

Partition partition_vertices(const Context& context, const Hypergraph& h, double load_seconds,
                             const PartitionOptions& options) {
  const tasks::TaskScope scope(context);
  tasks::require_one_process(context, "partition");
  validate_for_hypergraph(options);
  Stopwatch watch;
  report::PartitionRun run;
  run.model = "hypergraph";
  run.method = options.method;
  run.options = search_options(options);
  run.options.previous = tasks::previous_parts(options, h.num_vertices(), "vertex");
  run.load_seconds = load_seconds + watch.lap();
  check_num_parts(options, h.num_vertices(), "vertices");
  auto result = context.progress().during(
      "partitioning", [&] { return hypergraph::partition_by(h, run.method, run.options); });
  run.partition = {std::move(result.parts),
                   std::move(result.metrics),
                   result.was_cut_short,
                   h.num_vertices(),
                   h.num_nets(),
                   h.num_pins()};
  return finished(std::move(run), watch.lap());
}

// What gets a part, for messages.
std::string thing_of(PartitionModel model) {
  switch (model) {
    case PartitionModel::fine:
      return "nonzero";
    case PartitionModel::coarse:
      return "slice of all modes";
    case PartitionModel::fine_with_rows:
      return "nonzero and each slice of all modes";
    case PartitionModel::row:
      return "row";
    case PartitionModel::column:
      return "column";
  }
  return "";
}

}  // namespace

std::string to_string(PartitionMetric metric) {
  return metric == PartitionMetric::connectivity ? "connectivity" : "lambda2";
}

void validate(const PartitionOptions& options) {
  check_enumerators(options);
  check_ranges(options);
  check_method(options);
  check_cache(options);
  check_previous(options);
  if (options.slice_weights != SliceWeights::per_mode && options.model != PartitionModel::coarse)
    tasks::refuse_option(
        fmt::format("{} requires {} coarse", option_name("slice_weights"), option_name("model")));
}

// A hypergraph has neither slices nor a cache.
void validate_for_hypergraph(const PartitionOptions& options) {
  validate(options);
  const char* const field = options.model != PartitionModel::fine ? "model"
                            : !options.cache.empty()              ? "cache"
                            : options.no_cache                    ? "no_cache"
                                                                  : nullptr;
  if (field != nullptr)
    tasks::refuse_option(fmt::format("{} applies to tensors; the input is a hypergraph", option_name(field)));
}

Partition partition(const Context& context, const Tensor& x, const PartitionOptions& options) {
  const tasks::TaskScope scope(context);
  tasks::require_one_process(context, "partition");
  validate(options);
  tasks::require_order(x.tensor.order());
  check_num_parts(options, x.tensor);
  Stopwatch watch;
  auto search = tensor_options(options);
  report::PartitionRun run;
  search.hypergraph.previous =
      options.model == PartitionModel::coarse
          ? tasks::previous_slices(options, x.tensor.extents())
          : tasks::previous_parts(options, hypergraph::num_partitioned(x.tensor, options.model),
                                  thing_of(options.model));
  run.model = to_string(options.model);
  run.method = options.method;
  run.options = search.hypergraph;
  run.load_seconds = x.load_seconds + watch.lap();
  const Cache cache(context, x, options);
  auto stored = cache.find();
  run.was_cached = stored.has_value();
  run.partition = context.progress().during("partitioning", [&] {
    if (!stored) return hypergraph::partition_tensor(x.tensor, search);
    return hypergraph::measured_partition(x.tensor, search, std::move(*stored));
  });
  const double seconds = watch.lap();
  // There is a net for every row; a part needs nonzeros, not rows.
  const bool has_rows = options.model == PartitionModel::fine_with_rows;
  check_num_parts(options, run.partition.num_vertices - (has_rows ? run.partition.num_nets : 0),
                  partitioned_things(options.model));
  if (!run.was_cached) cache.store(run.partition);
  std::vector<int> row_owners;
  if (has_rows) {
    const auto nonzeros = std::ptrdiff_t(x.tensor.num_nonzeros());
    row_owners.assign(run.partition.parts.begin() + nonzeros, run.partition.parts.end());
    run.partition.parts.resize(std::size_t(nonzeros));
  }
  return finished(std::move(run), seconds, std::move(row_owners));
}

Partition partition(const Context& context, const Hypergraph& h, const PartitionOptions& options) {
  return partition_vertices(context, h, 0, options);
}

Partition partition(const Context& context, const LoadedHypergraph& loaded, const PartitionOptions& options) {
  return partition_vertices(context, loaded.hypergraph, loaded.load_seconds, options);
}

Hypergraph model_hypergraph(const Tensor& x, const PartitionOptions& options) {
  tasks::require_order(x.tensor.order());
  return hypergraph::model_of(x.tensor, tensor_options(options));
}

void save(const Context& /*context*/, const Partition& partition, const std::filesystem::path& path,
          Existing existing) {
  io::write_partition(path, partition.parts(), existing);
}

void save_row_owners(const Context& /*context*/, const Partition& partition,
                     const std::filesystem::path& path, Existing existing) {
  if (partition.row_owners().empty())
    tasks::refuse_option(fmt::format("owners of rows require {} {}", option_name("model"),
                                     to_string(PartitionModel::fine_with_rows)));
  io::write_partition(path, partition.row_owners(), existing);
}

void check_output(const Context& /*context*/, const Tensor& x, const PartitionOptions& options,
                  const std::filesystem::path& path) {
  constexpr double bytes_per_line = 2;  // at least
  tasks::require_space(path, bytes_per_line * double(hypergraph::num_partitioned(x.tensor, options.model)),
                       "a part for each of them would take at least");
}

bool is_hypergraph_file(const std::filesystem::path& path) {
  const auto name = path.string();
  return name.ends_with(".hgr") || name.ends_with(".hgr.gz");
}

LoadedHypergraph load_hypergraph(const Context& context, const std::filesystem::path& path) {
  const tasks::TaskScope scope(context);
  tasks::require_one_process(context, "load_hypergraph");
  const Stopwatch watch;
  auto h = context.progress().during("reading " + path.string(), [&] { return io::read_hypergraph(path); });
  return {std::move(h), watch.seconds()};
}

void save(const Context& /*context*/, const Hypergraph& h, const std::filesystem::path& path,
          Existing existing) {
  io::write_hypergraph(path, h, existing);
}

const std::vector<int>& Partition::parts() const {
  return state_->run.partition.parts;
}

const std::vector<int>& Partition::row_owners() const {
  return state_->row_owners;
}

int Partition::num_parts() const {
  return state_->run.options.num_parts;
}

const PartitionMetrics& Partition::metrics() const {
  return state_->run.partition.metrics;
}

Index Partition::num_vertices() const {
  return state_->run.partition.num_vertices;
}

Index Partition::num_nets() const {
  return state_->run.partition.num_nets;
}

Index Partition::num_pins() const {
  return state_->run.partition.num_pins;
}

bool Partition::was_cached() const {
  return state_->run.was_cached;
}

bool Partition::was_cut_short() const {
  return state_->run.partition.was_cut_short;
}

std::string Partition::summary() const {
  return report::partition_text(state_->run);
}

std::string Partition::json() const {
  return tasks::json_text(report::partition_json(state_->run));
}

}  // namespace polyad
