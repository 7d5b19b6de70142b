#include "polyad/distributed/cp/distribution.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

#include "polyad/base/parallel.hpp"
#include "polyad/distributed/repeated_nonzeros.hpp"

namespace polyad {
namespace {

// Streams of random numbers that belong together have one number apart from those of others.
constexpr std::uint64_t row_stream = 1000, nonzero_stream = 2000;

int part_of(const OwnedBySlice& owners, const SparseTensor<double>& x, Index z) {
  return owners.slices(x.indices(owners.mode)[z]);
}

int part_of(const OwnedByCell& owners, const SparseTensor<double>& x, Index z) {
  std::array<int, max_order> coords{};
  for (int m = 0; m < x.order(); ++m) coords[m] = owners.layers[m](x.indices(m)[z]);
  return owners.grid.rank_at(std::span(coords).first(std::size_t(x.order())));
}

int part_of(const OwnedByList& owners, const SparseTensor<double>&, Index z) {
  return owners.parts[z];
}

}  // namespace

std::vector<int> owners_of(const NonzeroOwners& owners, const SparseTensor<double>& share) {
  std::vector<int> parts(std::size_t(share.num_nonzeros()));
  std::visit(
      [&](const auto& how) {
        parallel_for(share.num_nonzeros(), [&](Index z) { parts[z] = part_of(how, share, z); });
      },
      owners);
  return parts;
}

std::string to_string(Scheme scheme) {
  switch (scheme) {
    case Scheme::coarse:
      return "coarse";
    case Scheme::medium:
      return "medium";
    default:
      return "fine";
  }
}

std::string to_string(const Exchange& exchange) {
  if (exchange.kind == Exchange::Kind::any) return "auto";
  if (exchange.kind == Exchange::Kind::direct) return "direct";
  return exchange.num_stages == 0 ? "routed" : "routed:" + std::to_string(exchange.num_stages);
}

std::string to_string(RowRule rule) {
  switch (rule) {
    case RowRule::even:
      return "even";
    case RowRule::greedy:
      return "greedy";
    case RowRule::balanced:
      return "balanced";
    case RowRule::file:
      return "file";
    default:
      return "random";
  }
}

RowOwners random_owners(const Distribution& distribution, int mode, Index extent) {
  return ShuffledParts(extent, distribution.num_parts, distribution.seed + row_stream + std::uint64_t(mode));
}

Distributor::Distributor(const Comm& comm, const SparseTensor<double>& share, int num_parts,
                         std::uint64_t seed)
    : comm_(comm), share_(share), num_parts_(num_parts), seed_(seed) {
  for (int m = 0; m < share.order(); ++m) profiles_.emplace_back(comm, share, m);
}

std::vector<Index> Distributor::rows() const {
  std::vector<Index> rows;
  for (const auto& profile : profiles_) rows.push_back(profile.num_rows());
  return rows;
}

Distribution Distributor::with(Scheme scheme, std::string partition) const {
  Distribution result;
  result.scheme = scheme;
  result.num_parts = num_parts_;
  result.seed = seed_;
  result.partition = std::move(partition);
  return result;
}

// Rows are cut where slices without nonzeros are not counted; a cut in terms of slices is just before the
// row's own slice. The first block begins at 0; those without rows are left out.
RowBlocks Distributor::blocks(int mode, std::span<const Index> row_cuts, std::vector<int> parts) const {
  std::vector<Index> cuts;
  std::size_t num_kept = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (row_cuts[i] == row_cuts[i + 1]) continue;
    cuts.push_back(row_cuts[i]);
    parts[num_kept++] = parts[i];
  }
  if (num_kept == 0) return {{0}, {parts.front()}};
  parts.resize(num_kept);
  auto begin = profiles_[mode].slices_of(cuts);
  begin.front() = 0;
  return {std::move(begin), std::move(parts)};
}

RowBlocks Distributor::equal_nonzeros(int mode) const {
  const auto cuts = cut_into_layers(profiles_[mode], num_parts_, {LayerPolicy::Kind::nnz});
  return blocks(mode, cuts.begin, cuts.layer);
}

Distribution Distributor::coarse_block() const {
  auto result = with(Scheme::coarse, "block");
  for (int m = 0; m < share_.order(); ++m) {
    result.rows.emplace_back(equal_nonzeros(m));
    result.nonzeros.emplace_back(OwnedBySlice{m, result.rows.back()});
  }
  return result;
}

Distribution Distributor::coarse_random() const {
  auto result = with(Scheme::coarse, "random");
  for (int m = 0; m < share_.order(); ++m) {
    result.rows.push_back(random_owners(result, m, share_.extent(m)));
    result.nonzeros.emplace_back(OwnedBySlice{m, result.rows.back()});
  }
  return result;
}

Distribution Distributor::coarse_listed(std::vector<std::vector<int>> parts) const {
  auto result = with(Scheme::coarse, "file");
  for (int m = 0; m < share_.order(); ++m) {
    assert(std::ssize(parts[m]) == share_.extent(m));
    result.rows.emplace_back(ListedRows{{}, std::move(parts[m])});
    result.nonzeros.emplace_back(OwnedBySlice{m, result.rows.back()});
  }
  return result;
}

// The rows of a layer, split evenly among its processes, one piece of it after the other.
RowOwners Distributor::owned_rows(const GridShape& grid, int mode, const LayerCuts& layers) const {
  struct Layer {
    std::vector<int> ranks;
    Index size = 0, done = 0;  // rows
    Index next = 0;            // which of the ranks gets the next row
  };
  std::vector<Layer> all;
  for (int l = 0; l < grid.dim(mode); ++l) all.push_back({grid.layer(mode, l)});
  for (std::size_t i = 0; i < layers.layer.size(); ++i)
    all[layers.layer[i]].size += layers.begin[i + 1] - layers.begin[i];
  std::vector<Index> cuts;
  std::vector<int> owners;
  for (std::size_t i = 0; i < layers.layer.size(); ++i) {
    auto& layer = all[layers.layer[i]];
    for (Index row = layers.begin[i]; row < layers.begin[i + 1];) {
      const Index end = part_begin(layer.size, layer.next + 1, std::ssize(layer.ranks));
      if (end > layer.done) {
        const Index count = std::min(layers.begin[i + 1] - row, end - layer.done);
        cuts.push_back(row);
        owners.push_back(layer.ranks[std::size_t(layer.next)]);
        row += count;
        layer.done += count;
      }
      if (layer.done == end) ++layer.next;
    }
  }
  cuts.push_back(layers.begin.back());
  if (owners.empty()) owners.push_back(all.front().ranks.front()), cuts.push_back(cuts.back());
  return blocks(mode, cuts, owners);
}

Distribution Distributor::medium(const GridShape& grid, const LayerPolicy& policy, RowRule rule) const {
  auto result = with(Scheme::medium, "block");
  result.grid = grid;
  result.policy = policy;
  result.row_rule = rule;
  if (rule == RowRule::file) result.rows = listed_owners_;
  OwnedByCell cells{grid, {}};
  for (int m = 0; m < share_.order(); ++m) {
    const auto cuts = cut_into_layers(profiles_[m], grid.dim(m), policy);
    cells.layers.emplace_back(blocks(m, cuts.begin, cuts.layer));
    if (rule == RowRule::even) result.rows.push_back(owned_rows(grid, m, cuts));
  }
  result.nonzeros.emplace_back(std::move(cells));
  return result;
}

Distribution Distributor::fine_block() const {
  auto result = with(Scheme::fine, "block");
  const auto all = rows();
  const auto longest = int(std::ranges::max_element(all) - all.begin());
  result.nonzeros.emplace_back(OwnedBySlice{longest, equal_nonzeros(longest)});
  return result;
}

Distribution Distributor::fine_random() const {
  auto result = with(Scheme::fine, "random");
  const auto counts = comm_.all_gather(share_.num_nonzeros());
  const Index first = std::accumulate(counts.begin(), counts.begin() + comm_.rank(), Index(0));
  const Index total = std::accumulate(counts.begin(), counts.end(), Index(0));
  const ShuffledParts shuffled(total, num_parts_, seed_ + nonzero_stream);
  std::vector<int> parts(std::size_t(share_.num_nonzeros()));
  parallel_for(share_.num_nonzeros(), [&](Index z) { parts[z] = shuffled(first + z); });
  follow_first(comm_, share_, parts);
  result.nonzeros.emplace_back(OwnedByList{std::move(parts)});
  return result;
}

Distribution Distributor::fine_listed(std::vector<int> parts) const {
  auto result = with(Scheme::fine, "file");
  follow_first(comm_, share_, parts);
  result.nonzeros.emplace_back(OwnedByList{std::move(parts)});
  return result;
}

Distribution Distributor::with_owners(Distribution distribution, RowRule rule) const {
  distribution.row_rule = rule;
  distribution.rows.clear();
  if (rule == RowRule::file) distribution.rows = listed_owners_;
  return distribution;
}

}  // namespace polyad
