#include "polyad/hypergraph/partition_with_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "polyad/base/timings.hpp"
#include "polyad/tensor/compact.hpp"

namespace polyad::hypergraph {
namespace {

// Owners of the rows of one mode, which are consecutive nets of the fine-grain model.
class OwnerChoice {
 public:
  OwnerChoice(const Hypergraph& nonzeros, std::span<const int> parts, std::span<const Index> limits)
      : nonzeros_(nonzeros), parts_(parts), limits_(limits), owned_(limits.size(), 0) {}

  // [net - first]
  std::vector<int> run(Index first, Index end) {
    std::vector<std::vector<int>> touching;
    for (Index net = first; net < end; ++net) touching.push_back(parts_of(net));
    std::vector<std::size_t> order(touching.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return touching[i].size(); });
    std::vector<int> owners(touching.size());
    for (const std::size_t i : order) ++owned_[owners[i] = owner_of(touching[i])];
    return owners;
  }

 private:
  std::vector<int> parts_of(Index net) const {
    std::vector<int> touching;
    for (const auto vertex : nonzeros_.pins(net)) touching.push_back(parts_[vertex]);
    std::ranges::sort(touching);
    const auto repeated = std::ranges::unique(touching);
    touching.erase(repeated.begin(), repeated.end());
    return touching;
  }

  int owner_of(const std::vector<int>& touching) const {
    const auto owned = [&](int part) { return owned_[part]; };
    const int best = *std::ranges::min_element(touching, {}, owned);
    if (owned_[best] < limits_[best]) return best;
    return int(std::ranges::min_element(owned_) - owned_.begin());
  }

  const Hypergraph& nonzeros_;
  std::span<const int> parts_;
  std::span<const Index> limits_;
  std::vector<Index> owned_;  // [part]
};

// Where the vertices lie in the tensor: each stands for nonzeros, or for a slice.
class VertexPlaces {
 public:
  VertexPlaces(const SparseTensor<double>& x, const FineModel& model)
      : model_(model), slices_(parts_of_slices(x.extents())) {
    Index first = 0;
    const auto rows = number_rows(x);
    for (int m = 0; m < x.order(); ++m) {
      for (const Index slice : rows[m].slices) rows_.push_back(first + slice);
      first += x.extent(m);
    }
  }

  // Parts of the vertices of nonzeros; of nonzeros that repeat, the first one counts.
  std::vector<int> of_cells(std::span<const int> parts) const {
    std::vector<int> result(std::size_t(model_.h.num_vertices()));
    for (std::size_t z = model_.vertex_of.size(); z-- > 0;) result[model_.vertex_of[z]] = parts[z];
    return result;
  }

  // Parts of all vertices, given those of the nonzeros and slices.
  std::vector<int> of_vertices(std::span<const int> parts) const {
    auto result = of_cells(parts);
    const auto slices = parts.subspan(model_.vertex_of.size());
    for (const Index row : rows_) result.push_back(slices[std::size_t(row)]);
    return result;
  }

  // And back again. Slices without nonzeros cost nothing anywhere.
  std::vector<int> of_tensor(std::span<const int> parts) const {
    std::vector<int> result;
    result.reserve(model_.vertex_of.size() + slices_.size());
    for (const auto vertex : model_.vertex_of) result.push_back(parts[vertex]);
    result.insert(result.end(), slices_.begin(), slices_.end());
    const auto owners = parts.subspan(std::size_t(model_.h.num_vertices()));
    for (std::size_t i = 0; i < rows_.size(); ++i)
      result[model_.vertex_of.size() + std::size_t(rows_[i])] = owners[i];
    return result;
  }

 private:
  const FineModel& model_;
  std::vector<int> slices_;  // [slice], mode after mode: 0
  std::vector<Index> rows_;  // [row vertex]: its slice
};

TensorPartition described(const Hypergraph& h, std::vector<int> parts, PartitionMetrics metrics) {
  return {std::move(parts), std::move(metrics), false, h.num_vertices(), h.num_nets(), h.num_pins()};
}

}  // namespace

std::vector<int> with_owners_of_rows(const FineModel& model, std::span<const int> parts_of_nonzeros,
                                     const PartLimits& limits) {
  std::vector<int> parts(parts_of_nonzeros.begin(), parts_of_nonzeros.end());
  Index net = 0;
  for (int m = 0; m < model.cells.order(); ++m) {
    const Index end = net + model.cells.extent(m);
    const auto owners = OwnerChoice(model.h, parts_of_nonzeros, limits[std::size_t(m) + 1]).run(net, end);
    parts.insert(parts.end(), owners.begin(), owners.end());
    net = end;
  }
  return parts;
}

TensorPartition partition_with_rows(const SparseTensor<double>& x, const TensorPartitionOptions& options) {
  const Stopwatch watch;
  const auto model = fine_model(x);
  const auto h = with_row_vertices(model);
  const VertexPlaces places(x, model);
  auto how = options.hypergraph;
  bool was_cut_short = false;
  // The other methods begin with nothing.
  if (options.method == PartitionMethod::hypergraph || options.method == PartitionMethod::block) {
    auto of_nonzeros = options;
    of_nonzeros.model = PartitionModel::fine;
    const auto start = partition_tensor(x, of_nonzeros);
    was_cut_short = start.was_cut_short;
    how.starts.push_back(with_owners_of_rows(model, places.of_cells(start.parts),
                                             part_limits(h, how.num_parts, how.imbalance)));
    how.time_limit_seconds = std::max(0.0, how.time_limit_seconds - watch.seconds());
  }
  if (options.method == PartitionMethod::block) {
    const auto& parts = how.starts.front();
    return described(h, places.of_tensor(parts),
                     measure_partition(h, parts, how.num_parts, how.objective.rho));
  }
  const int num_parts = how.num_parts;
  auto found = partition_by(h, options.method, std::move(how));
  // Of nonzeros: parts that only own rows would be idle.
  fill_empty_parts(std::span(found.parts).first(std::size_t(model.h.num_vertices())), num_parts);
  auto metrics = measure_partition(h, found.parts, num_parts, options.hypergraph.objective.rho);
  auto result = described(h, places.of_tensor(found.parts), std::move(metrics));
  result.was_cut_short = found.was_cut_short || was_cut_short;
  return result;
}

TensorPartition measured_with_rows(const SparseTensor<double>& x, const TensorPartitionOptions& options,
                                   std::vector<int> parts) {
  const auto model = fine_model(x);
  const auto h = with_row_vertices(model);
  const auto of_vertices = VertexPlaces(x, model).of_vertices(parts);
  auto metrics =
      measure_partition(h, of_vertices, options.hypergraph.num_parts, options.hypergraph.objective.rho);
  return described(h, std::move(parts), std::move(metrics));
}

}  // namespace polyad::hypergraph
