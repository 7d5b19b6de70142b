#include "polyad/tensor/sort.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>

#include "polyad/base/parallel.hpp"
#include "polyad/base/radix_sort.hpp"

namespace polyad {
namespace {

int index_bits(Index extent) {
  return int(std::bit_width(std::uint64_t(std::max<Index>(extent - 1, 0))));
}

// Consecutive modes whose packed indices fit one key; the last mode in the group is in the low bits.
struct KeyGroup {
  std::vector<int> modes;
  int bits = 0;
};

std::vector<KeyGroup> group_modes(const std::vector<Index>& extents, std::span<const int> mode_order) {
  std::vector<KeyGroup> groups;
  for (const int mode : mode_order) {
    const int bits = index_bits(extents[mode]);
    if (groups.empty() || groups.back().bits + bits > 64) groups.emplace_back();
    groups.back().modes.push_back(mode);
    groups.back().bits += bits;
  }
  return groups;
}

template <class Real, class Id>
void set_keys(const SparseTensor<Real, Id>& x, const KeyGroup& group, Array<KeyedPosition>& items) {
  parallel_for(Index(items.size()), [&](Index i) {
    auto& item = items[i];
    std::uint64_t key = 0;
    for (const int mode : group.modes) {
      const int bits = index_bits(x.extent(mode));  // below 64: extents are below 2^63
      key = key << bits | std::uint64_t(x.indices(mode)[item.position]);
    }
    item.key = key;
  });
}

template <class T>
Array<T> permuted(std::span<const T> from, const Array<KeyedPosition>& items) {
  Array<T> to(from.size());
  parallel_for(Index(items.size()), [&](Index i) { to[i] = from[items[i].position]; });
  return to;
}

template <class Real, class Id>
bool same_coordinates(const SparseTensor<Real, Id>& x, Index a, Index b) {
  for (int m = 0; m < x.order(); ++m)
    if (x.indices(m)[a] != x.indices(m)[b]) return false;
  return true;
}

template <class Real, class Id>
bool is_sorted(const SparseTensor<Real, Id>& x, std::span<const int> mode_order) {
  std::atomic<bool> sorted = true;
  parallel_parts(x.num_nonzeros(), [&](Index begin, Index end, int) {
    for (Index z = std::max<Index>(begin, 1); z < end && sorted; ++z)
      for (const int m : mode_order) {
        const Id before = x.indices(m)[z - 1], here = x.indices(m)[z];
        if (before < here) break;
        if (before > here) sorted = false;
      }
  });
  return sorted;
}

}  // namespace

std::vector<int> natural_mode_order(int order) {
  std::vector<int> modes(std::size_t(order), 0);
  std::iota(modes.begin(), modes.end(), 0);
  return modes;
}

template <class Real, class Id>
void sort_nonzeros(SparseTensor<Real, Id>& x, std::span<const int> mode_order) {
  assert(int(mode_order.size()) == x.order());
  if (is_sorted(x, mode_order)) return;  // files often are
  Array<KeyedPosition> items(x.values().size());
  parallel_for(Index(items.size()), [&](Index i) { items[i].position = i; });
  const auto groups = group_modes(x.extents(), mode_order);
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    set_keys(x, *group, items);
    radix_sort(items, group->bits);
  }
  for (int m = 0; m < x.order(); ++m)
    x.replace_indices(m, permuted(std::span<const Id>(x.indices(m)), items));
  x.replace_values(permuted(std::span<const Real>(x.values()), items));
}

template <class Real, class Id>
Index count_duplicates(const SparseTensor<Real, Id>& x) {
  std::atomic<Index> total = 0;
  parallel_parts(x.num_nonzeros(), [&](Index begin, Index end, int) {
    Index found = 0;
    for (Index z = std::max<Index>(begin, 1); z < end; ++z) found += same_coordinates(x, z - 1, z);
    total += found;
  });
  return total;
}

template <class Real, class Id>
Index merge_duplicates(SparseTensor<Real, Id>& x) {
  const Index duplicates = count_duplicates(x);
  if (duplicates == 0) return 0;
  Index last = 0;
  for (Index z = 1; z < x.num_nonzeros(); ++z) {
    const Real value = x.values()[z];
    if (same_coordinates(x, last, z)) {
      x.values()[last] += value;
      continue;
    }
    ++last;
    for (int m = 0; m < x.order(); ++m) x.indices(m)[last] = x.indices(m)[z];
    x.values()[last] = value;
  }
  x.resize(last + 1);
  return duplicates;
}

template <class Real, class Id>
Index find_nonzero(const SparseTensor<Real, Id>& x, std::span<const int> mode_order,
                   std::span<const Index> at) {
  Index begin = 0, end = x.num_nonzeros();
  for (const int mode : mode_order) {
    const auto column = x.indices(mode);
    const auto [low, high] = std::equal_range(column.begin() + begin, column.begin() + end, Id(at[mode]));
    begin = low - column.begin();
    end = high - column.begin();
  }
  return begin < end ? begin : -1;
}

template void sort_nonzeros(SparseTensor<float, Index>&, std::span<const int>);
template Index merge_duplicates(SparseTensor<float, Index>&);
template Index count_duplicates(const SparseTensor<float, Index>&);
template void sort_nonzeros(SparseTensor<float, LocalIndex>&, std::span<const int>);
template Index merge_duplicates(SparseTensor<float, LocalIndex>&);
template Index count_duplicates(const SparseTensor<float, LocalIndex>&);
template Index find_nonzero(const SparseTensor<float, LocalIndex>&, std::span<const int>,
                            std::span<const Index>);
template void sort_nonzeros(SparseTensor<double, Index>&, std::span<const int>);
template Index merge_duplicates(SparseTensor<double, Index>&);
template Index count_duplicates(const SparseTensor<double, Index>&);
template void sort_nonzeros(SparseTensor<double, LocalIndex>&, std::span<const int>);
template Index merge_duplicates(SparseTensor<double, LocalIndex>&);
template Index count_duplicates(const SparseTensor<double, LocalIndex>&);
template Index find_nonzero(const SparseTensor<double, LocalIndex>&, std::span<const int>,
                            std::span<const Index>);

}  // namespace polyad
