#include "polyad/hypergraph/partition_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/hypergraph/balance.hpp"
#include "polyad/hypergraph/external_partitioner.hpp"
#include "polyad/hypergraph/partition_with_rows.hpp"
#include "polyad/hypergraph/previous_partition.hpp"
#include "polyad/hypergraph/recursive_bisection.hpp"
#include "polyad/hypergraph/tilings.hpp"

namespace polyad::hypergraph {

namespace {

PartitionResult measured(const Hypergraph& h, std::vector<int> parts, const PartitionOptions& options) {
  auto metrics = measure_partition(h, parts, options.num_parts, options.objective.rho);
  return {std::move(parts), std::move(metrics), false};
}

TensorPartition describe(const Hypergraph& h, PartitionResult result) {
  return {{}, std::move(result.metrics), result.was_cut_short, h.num_vertices(), h.num_nets(), h.num_pins()};
}

int mode_with_most_slices(const SparseTensor<double, LocalIndex>& cells) {
  return int(std::ranges::max_element(cells.extents()) - cells.extents().begin());
}

// The mode whose slices are the rows of the row-wise model.
int row_mode(PartitionModel model) {
  return model == PartitionModel::column ? 1 : 0;
}

// The few tilings that cost least, made by several threads at once.
std::vector<std::vector<int>> best_tilings(const FineModel& model, const PartitionOptions& options) {
  constexpr Index at_once = 4;
  constexpr std::size_t num_kept = 3;
  const auto tilings = all_tilings(model.cells, options.num_parts);
  std::vector<std::pair<double, std::vector<int>>> kept;
  for (Index first = 0; first < std::ssize(tilings); first += at_once) {
    std::vector<std::vector<int>> made(std::size_t(std::min(at_once, std::ssize(tilings) - first)));
    parallel_for(std::ssize(made), [&](Index i) { made[i] = tilings[first + i]().parts; });
    for (auto& parts : made) {
      const auto metrics = measure_partition(model.h, parts, options.num_parts, options.objective.rho);
      kept.emplace_back(options.objective.of(metrics), std::move(parts));
    }
    std::ranges::stable_sort(kept, {}, [](const auto& one) { return one.first; });
    if (kept.size() > num_kept) kept.resize(num_kept);
  }
  std::vector<std::vector<int>> starts;
  for (auto& [price, parts] : kept) starts.push_back(std::move(parts));
  return starts;
}

// Parts of vertices, given those of the nonzeros or slices that they represent: the first one counts.
std::vector<int> older_of_vertices(std::span<const int> previous, std::span<const LocalIndex> vertex_of,
                                   Index num_vertices) {
  std::vector<int> parts(std::size_t(num_vertices), new_vertex);
  for (std::size_t z = 0; z < vertex_of.size(); ++z)
    if (parts[vertex_of[z]] == new_vertex) parts[vertex_of[z]] = previous[z];
  return parts;
}

TensorPartition partition_fine(const SparseTensor<double>& x, const TensorPartitionOptions& options) {
  const auto model = fine_model(x);
  auto how = options.hypergraph;
  PartitionResult result;
  if (options.method == PartitionMethod::block) {
    const int mode = mode_with_most_slices(model.cells);
    result = measured(model.h, block_tiling(model.cells, how.num_parts, mode).parts, how);
  } else {
    if (!how.previous.empty())
      how.previous = older_of_vertices(how.previous, model.vertex_of, model.h.num_vertices());
    else if (options.method == PartitionMethod::hypergraph)
      how.starts = best_tilings(model, how);
    result = partition_by(model.h, options.method, std::move(how));
  }
  std::vector<int> parts(model.vertex_of.size());
  for (std::size_t z = 0; z < parts.size(); ++z) parts[z] = result.parts[model.vertex_of[z]];
  auto partition = describe(model.h, std::move(result));
  partition.parts = std::move(parts);
  return partition;
}

// The indices of some modes one after the other, without nonzeros or not: where the vertices lie in them.
std::vector<Index> places_of_slices(const SliceModel& model, std::span<const Index> extents) {
  std::vector<Index> places;
  Index first = 0;
  for (std::size_t m = 0; m < extents.size(); ++m) {
    for (const Index slice : model.slices[m]) places.push_back(first + slice);
    first += extents[m];
  }
  return places;
}

// The best of several partitions for the sum of lambda^rho: from scratch, and refined from those for the
// connectivity and from recursive bisection, each of which is the best start of some hypergraphs.
class PowerPartitioner {
 public:
  PowerPartitioner(const Hypergraph& h, PartitionOptions options)
      : h_(h),
        options_(std::move(options)),
        limits_(part_limits(h, options_.num_parts, options_.imbalance)),
        limited_(h, limits_) {
    tell_ = std::exchange(options_.on_better, [this](std::span<const int> parts, double cost) {
      if (tell_ && cost < least_told_ && is_balanced(parts)) tell_(parts, least_told_ = cost);
    });
  }

  PartitionResult run() {
    consider(partition_hypergraph(h_, options_));
    for (const auto start : {&PowerPartitioner::for_connectivity, &PowerPartitioner::by_bisection}) {
      if (is_late()) break;
      consider(refined((this->*start)()));
    }
    best_.was_cut_short = best_.was_cut_short || was_cut_short_;
    return std::move(best_);
  }

 private:
  bool is_late() {
    was_cut_short_ = was_cut_short_ || watch_.seconds() > options_.time_limit_seconds;
    return was_cut_short_;
  }

  // With the time that is left.
  PartitionOptions without_starts() const {
    auto options = options_;
    options.starts.clear();
    options.time_limit_seconds = std::max(options_.time_limit_seconds - watch_.seconds(), 0.0);
    return options;
  }

  PartitionResult for_connectivity() {
    auto options = without_starts();
    options.objective.kind = Objective::Kind::connectivity;
    options.starts = options_.starts;
    options.on_better = {};
    return partition_hypergraph(h_, options);
  }

  PartitionResult by_bisection() { return bisect_recursively(h_, without_starts()); }

  PartitionResult refined(PartitionResult start) {
    auto options = without_starts();
    options.previous = start.parts;
    auto result = partition_hypergraph(h_, options);
    result.was_cut_short = result.was_cut_short || start.was_cut_short;
    start.metrics = measure_partition(h_, start.parts, options.num_parts, options.objective.rho);
    return is_better(start, result) ? std::move(start) : std::move(result);
  }

  bool is_balanced(std::span<const int> parts) const {
    const Balance balance(limited_.h(), parts, limits_);
    for (int part = 0; part < options_.num_parts; ++part)
      if (balance.is_overloaded(part)) return false;
    return true;
  }

  bool is_better(const PartitionResult& a, const PartitionResult& b) const {
    const auto rank = [&](const PartitionResult& x) {
      return std::pair(!is_balanced(x.parts), options_.objective.of(x.metrics));
    };
    return rank(a) < rank(b);
  }

  void consider(PartitionResult result) {
    was_cut_short_ = was_cut_short_ || result.was_cut_short;
    if (best_.parts.empty() || is_better(result, best_)) best_ = std::move(result);
  }

  const Hypergraph& h_;
  PartitionOptions options_;
  PartLimits limits_;
  LimitedWeights limited_;
  std::function<void(std::span<const int> parts, double cost)> tell_;
  double least_told_ = std::numeric_limits<double>::infinity();
  Stopwatch watch_;
  PartitionResult best_;
  bool was_cut_short_ = false;
};

TensorPartition partition_slices(const SliceModel& model, std::span<const Index> extents,
                                 const TensorPartitionOptions& options) {
  auto parts = parts_of_slices(extents);
  const auto places = places_of_slices(model, extents);
  auto how = options.hypergraph;
  if (!how.previous.empty()) {
    std::vector<int> previous;
    for (const Index place : places) previous.push_back(how.previous[place]);
    how.previous = std::move(previous);
  }
  auto result = partition_by(model.h, options.method, std::move(how));
  for (std::size_t v = 0; v < places.size(); ++v) parts[places[v]] = result.parts[v];
  auto partition = describe(model.h, std::move(result));
  partition.parts = std::move(parts);
  return partition;
}

}  // namespace

Index num_slices(std::span<const Index> extents) {
  Index total = 0;
  for (const Index extent : extents)
    total = extent > std::numeric_limits<Index>::max() - total ? std::numeric_limits<Index>::max()
                                                               : total + extent;
  return total;
}

std::vector<int> parts_of_slices(std::span<const Index> extents) {
  const Index total = num_slices(extents);
  const double needed = double(total) * sizeof(int), has = double(memory_to_plan_with());
  if (needed > has)
    throw Error(
        Errc::resource,
        fmt::format("a part for each of {:.3g} slices, empty or not, takes {}, where this machine has {}; if "
                    "indices are ids, read them by {} from a csv, which numbers only those that "
                    "occur",
                    double(total), with_prefix(needed, "B"), with_prefix(has, "B"), option_name("columns")));
  return std::vector<int>(std::size_t(total), 0);  // slices without nonzeros cost nothing anywhere
}

std::string to_string(Effort effort) {
  switch (effort) {
    case Effort::fast:
      return "fast";
    case Effort::normal:
      return "default";
    case Effort::best:
      break;
  }
  return "best";
}

std::string to_string(SliceWeights weights) {
  return weights == SliceWeights::per_mode ? "per-mode" : "together";
}

std::string to_string(PartitionModel model) {
  switch (model) {
    case PartitionModel::fine:
      return "fine";
    case PartitionModel::coarse:
      return "coarse";
    case PartitionModel::row:
      return "row";
    case PartitionModel::column:
      return "column";
    case PartitionModel::fine_with_rows:
      break;
  }
  return "fine-with-rows";
}

std::string to_string(PartitionMethod method) {
  switch (method) {
    case PartitionMethod::hypergraph:
      return "hypergraph";
    case PartitionMethod::bisection:
      return "bisection";
    case PartitionMethod::block:
      return "block";
    case PartitionMethod::zoltan:
      return "zoltan";
    case PartitionMethod::mt_kahypar:
      return "mt-kahypar";
    case PartitionMethod::random:
      break;
  }
  return "random";
}

Index num_partitioned(const SparseTensor<double>& x, PartitionModel model) {
  switch (model) {
    case PartitionModel::fine:
      return x.num_nonzeros();
    case PartitionModel::coarse:
      return num_slices(x.extents());
    case PartitionModel::fine_with_rows:
      return std::min(num_slices(x.extents()), std::numeric_limits<Index>::max() - x.num_nonzeros()) +
             x.num_nonzeros();
    case PartitionModel::row:
    case PartitionModel::column:
      break;
  }
  return num_slices(std::span(x.extents()).subspan(std::size_t(row_mode(model)), 1));
}

TensorPartition measured_partition(const SparseTensor<double>& x, const TensorPartitionOptions& options,
                                   std::vector<int> parts) {
  if (options.model == PartitionModel::fine_with_rows)
    return measured_with_rows(x, options, std::move(parts));
  if (options.model == PartitionModel::fine) {
    const auto model = fine_model(x);
    auto of_vertices = older_of_vertices(parts, model.vertex_of, model.h.num_vertices());
    auto partition = describe(model.h, measured(model.h, std::move(of_vertices), options.hypergraph));
    partition.parts = std::move(parts);
    return partition;
  }
  const bool is_coarse = options.model == PartitionModel::coarse;
  const int mode = row_mode(options.model);
  const auto model = is_coarse ? coarse_model(x, options.slice_weights) : row_model(x, mode);
  const std::span<const Index> extents(x.extents());
  std::vector<int> of_vertices;
  for (const Index place :
       places_of_slices(model, is_coarse ? extents : extents.subspan(std::size_t(mode), 1)))
    of_vertices.push_back(parts[place]);
  auto partition = describe(model.h, measured(model.h, std::move(of_vertices), options.hypergraph));
  partition.parts = std::move(parts);
  return partition;
}

PartitionResult partition_by(const Hypergraph& h, PartitionMethod method, PartitionOptions options) {
  const auto limits = part_limits(h, options.num_parts, options.imbalance);
  const LimitedWeights limited(h, limits);
  switch (method) {
    case PartitionMethod::hypergraph:
      if (options.previous.empty()) options.starts.push_back(block_parts(limited.h(), limits));
      if (options.previous.empty() && options.objective.kind == Objective::Kind::lambda_power)
        return PowerPartitioner(h, options).run();
      return partition_hypergraph(h, options);
    case PartitionMethod::bisection:
      return bisect_recursively(h, options);
    case PartitionMethod::zoltan:
      return partition_by_zoltan(h, options);
    case PartitionMethod::mt_kahypar:
      return partition_by_mt_kahypar(h, options);
    case PartitionMethod::block:
    case PartitionMethod::random:
      break;
  }
  auto parts = method == PartitionMethod::block ? block_parts(limited.h(), limits)
                                                : random_parts(limited.h(), limits, options.seed);
  fill_empty_parts(parts, options.num_parts);
  return measured(h, std::move(parts), options);
}

Hypergraph model_of(const SparseTensor<double>& x, const TensorPartitionOptions& options) {
  switch (options.model) {
    case PartitionModel::fine:
      return fine_model(x).h;
    case PartitionModel::coarse:
      return coarse_model(x, options.slice_weights).h;
    case PartitionModel::fine_with_rows:
      return with_row_vertices(fine_model(x));
    case PartitionModel::row:
    case PartitionModel::column:
      break;
  }
  return row_model(x, row_mode(options.model)).h;
}

TensorPartition partition_tensor(const SparseTensor<double>& x, const TensorPartitionOptions& options) {
  const std::span<const Index> extents(x.extents());
  switch (options.model) {
    case PartitionModel::fine:
      return partition_fine(x, options);
    case PartitionModel::coarse:
      return partition_slices(coarse_model(x, options.slice_weights), extents, options);
    case PartitionModel::fine_with_rows:
      return partition_with_rows(x, options);
    case PartitionModel::row:
    case PartitionModel::column:
      break;
  }
  const int mode = row_mode(options.model);
  return partition_slices(row_model(x, mode), extents.subspan(std::size_t(mode), 1), options);
}

}  // namespace polyad::hypergraph
