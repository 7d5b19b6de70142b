#include "polyad/distributed/cp/grouped_nonzeros.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "polyad/base/radix_sort.hpp"
#include "polyad/tensor/compact.hpp"
#include "polyad/tensor/slice_counts.hpp"

namespace polyad {
namespace {

// By counting: for nonzeros that are many, compared with the rows.
NonzerosByRow group_by_counting(std::span<const Index> indices, Index extent) {
  RowNumbers numbers;
  numbers.slices = count_slices(indices, extent).slices;
  const auto row = number_nonzeros(indices, extent, numbers);
  NonzerosByRow groups{std::move(numbers.slices), {}, {}, {}};
  groups.begin.assign(groups.rows.size() + 1, 0);
  for (const LocalIndex i : row) ++groups.begin[i + 1];
  std::partial_sum(groups.begin.begin(), groups.begin.end(), groups.begin.begin());
  groups.nonzeros.resize(std::size_t(groups.begin.back()));
  auto next = groups.begin;
  for (std::size_t z = 0; z < row.size(); ++z) groups.nonzeros[next[row[z]]++] = Index(z);
  return groups;
}

// By sorting: for few nonzeros.
NonzerosByRow group_by_sorting(std::span<const Index> indices, Index extent) {
  Array<KeyedPosition> keys(indices.size());
  for (std::size_t z = 0; z < indices.size(); ++z) keys[z] = {std::uint64_t(indices[z]), Index(z)};
  radix_sort(keys, int(std::bit_width(std::uint64_t(std::max<Index>(extent - 1, 0)))));
  NonzerosByRow groups;
  groups.nonzeros.reserve(keys.size());
  for (const auto& [key, z] : keys) {
    if (groups.rows.empty() || groups.rows.back() != Index(key)) {
      groups.rows.push_back(Index(key));
      groups.begin.push_back(std::ssize(groups.nonzeros));
    }
    groups.nonzeros.push_back(z);
  }
  groups.begin.push_back(std::ssize(groups.nonzeros));
  return groups;
}

Array<Index> taken_at(std::span<const Index> indices, std::span<const Index> places) {
  Array<Index> taken(places.size());
  std::ranges::transform(places, taken.begin(), [&](Index z) { return indices[z]; });
  return taken;
}

}  // namespace

GroupedNonzeros::GroupedNonzeros(const SparseTensor<double>& share) : are_all_(true) {
  for (int m = 0; m < share.order(); ++m)
    by_row_.push_back(group_by_counting(share.indices(m), share.extent(m)));
}

GroupedNonzeros::GroupedNonzeros(const SparseTensor<double>& share, Array<Index> places)
    : places_(std::move(places)) {
  for (int m = 0; m < share.order(); ++m)
    by_row_.push_back(group_by_sorting(taken_at(share.indices(m), places_), share.extent(m)));
}

GroupedNonzeros::GroupedNonzeros(const Comm& comm, const SparseTensor<double>& share,
                                 std::span<const Index> places, int mode, std::span<const double> weights)
    : places_(places.size()), moved_(Moved{comm, std::vector<Index>(std::size_t(comm.size()), 0), {}}) {
  const auto indices = share.indices(mode);
  const auto receiver = [&](Index z) {
    return Index(static_cast<__int128>(indices[z]) * comm.size() / share.extent(mode));
  };
  auto& given = moved_->given;
  for (const Index z : places) ++given[receiver(z)];
  std::vector<Index> next(given.size());
  std::exclusive_scan(given.begin(), given.end(), next.begin(), Index(0));
  Array<double> given_weights(weights.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Index at = next[receiver(places[i])]++;
    places_[at] = places[i];
    if (!weights.empty()) given_weights[at] = weights[i];
  }
  moved_->taken = comm.exchange_counts(given);
  Array<Index> taken(std::size_t(std::reduce(moved_->taken.begin(), moved_->taken.end())));
  for (int m = 0; m < share.order(); ++m) {
    comm.all_to_all<Index>(taken_at(share.indices(m), places_), given, taken, moved_->taken);
    by_row_.push_back(group_by_sorting(taken, share.extent(m)));
  }
  if (comm.all_reduce(std::int32_t(!weights.empty()), Reduce::max) == 0) return;
  given_weights.resize(places_.size(), 1);
  weights_.resize(taken.size());
  comm.all_to_all<double>(given_weights, given, weights_, moved_->taken);
}

void GroupedNonzeros::sort_rows(std::span<const int> tree) {
  const auto num_nonzeros = std::size_t(count());
  std::vector<Array<Index>> row_of;  // [level of the tree, from the second to the last but one][nonzero]
  for (const int mode : tree.subspan(1, std::max<std::size_t>(tree.size(), 2) - 2)) {
    const auto& groups = by_row_[mode];
    auto& rows = row_of.emplace_back(num_nonzeros);
    for (Index i = 0; i < std::ssize(groups.rows); ++i)
      for (Index k = groups.begin[i]; k < groups.begin[i + 1]; ++k) rows[groups.nonzeros[k]] = i;
  }
  // By one level after the other, the lowest first; each sort keeps the order of those before.
  Array<Index> order(num_nonzeros), next_order(num_nonzeros);
  std::iota(order.begin(), order.end(), Index(0));
  auto& root = by_row_[tree.front()];
  Array<Index> root_row(num_nonzeros);
  for (Index i = 0; i < std::ssize(root.rows); ++i)
    for (Index k = root.begin[i]; k < root.begin[i + 1]; ++k) root_row[root.nonzeros[k]] = i;
  const auto sort_by = [&](const Array<Index>& rows, std::vector<Index> next) {
    for (const Index z : order) next_order[next[rows[z]]++] = z;
    std::swap(order, next_order);
  };
  for (std::size_t l = row_of.size(); l-- > 0;) sort_by(row_of[l], by_row_[tree[l + 1]].begin);
  sort_by(root_row, root.begin);
  root.nonzeros = std::move(order);
  root.level.assign(num_nonzeros, std::uint8_t(row_of.size() + 1));
  for (Index i = 0; i < std::ssize(root.rows); ++i)
    for (Index k = root.begin[i]; k < root.begin[i + 1]; ++k) {
      std::size_t level = 0;
      if (k > root.begin[i])
        while (level < row_of.size() &&
               row_of[level][root.nonzeros[k]] == row_of[level][root.nonzeros[k - 1]])
          ++level;
      root.level[k] = k == root.begin[i] ? 0 : std::uint8_t(level + 1);
    }
}

Array<int> GroupedNonzeros::parts(const OwnedByList& owners) const {
  if (are_all_) return {owners.parts.begin(), owners.parts.end()};
  Array<int> parts(places_.size());
  std::ranges::transform(places_, parts.begin(), [&](Index z) { return owners.parts[z]; });
  if (!moved_) return parts;
  Array<int> taken(static_cast<std::size_t>(count()));
  moved_->comm.all_to_all<int>(parts, moved_->given, taken, moved_->taken);
  return taken;
}

Array<int> GroupedNonzeros::parts(const NonzeroOwners& owners) const {
  if (const auto* list = std::get_if<OwnedByList>(&owners)) return parts(*list);
  Array<int> parts(std::size_t(count()), 0);
  const auto add = [&](int mode, const RowOwners& rows, int times) {
    const auto& groups = by_row_[mode];
    parallel_rows(groups, [&](Index begin, Index end, int) {
      const auto of_rows =
          rows.of_ascending(std::span(groups.rows).subspan(std::size_t(begin), std::size_t(end - begin)));
      for (Index i = begin; i < end; ++i) {
        const int part = of_rows[i - begin] * times;
        for (Index k = groups.begin[i]; k < groups.begin[i + 1]; ++k) parts[groups.nonzeros[k]] += part;
      }
    });
  };
  if (const auto* by_slice = std::get_if<OwnedBySlice>(&owners)) {
    add(by_slice->mode, by_slice->slices, 1);
    return parts;
  }
  const auto& cells = std::get<OwnedByCell>(owners);
  const auto order = by_row_.size();
  for (int m = 0; m < int(order); ++m) {
    std::array<int, max_order> one_on{};
    one_on[m] = 1;
    if (cells.grid.dim(m) > 1) add(m, cells.layers[m], cells.grid.rank_at(std::span(one_on).first(order)));
  }
  return parts;
}

}  // namespace polyad
