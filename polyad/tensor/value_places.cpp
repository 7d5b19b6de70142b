#include "polyad/tensor/value_places.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>

#include "polyad/base/parallel.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

using Cells = SparseTensor<double, LocalIndex>;

// Fills in a place per cell.
template <class Find>
Array<Index> places_by(const Cells& cells, Find find) {
  Array<Index> places(cells.values().size());
  parallel_for(cells.num_nonzeros(), [&](Index k) { places[k] = find(k); });
  return places;
}

// The node with an index among consecutive ones, whose indices ascend.
Index find_node(std::span<const LocalIndex> ids, Index begin, Index end, LocalIndex id) {
  const auto found = std::lower_bound(ids.begin() + begin, ids.begin() + end, id);
  assert(found != ids.begin() + end && *found == id);
  return found - ids.begin();
}

template <class Real>
Array<Index> places_in(const CsfTree<Real>& tree, const Cells& cells) {
  return places_by(cells, [&](Index k) {
    Index begin = 0, end = tree.num_nodes(0);
    for (int level = 0;; ++level) {
      const Index node = find_node(tree.ids(level), begin, end, cells.indices(tree.modes()[level])[k]);
      if (level == tree.last_level()) return node;
      begin = tree.first_child(level)[node];
      end = tree.first_child(level)[node + 1];
    }
  });
}

template <class Real>
std::vector<Array<Index>> places_of(const CsfTensor<Real>& x, const Cells& cells) {
  std::vector<Array<Index>> places;
  for (const auto& tree : x.trees) places.push_back(places_in(tree, cells));
  return places;
}

// Coordinates are sorted, first mode first.
template <class Real>
std::vector<Array<Index>> places_of(const CooTensor<Real>& x, const Cells& cells) {
  const auto natural = natural_mode_order(x.order());
  return {places_by(cells, [&](Index k) {
    std::array<Index, max_order> at{};
    for (int m = 0; m < x.order(); ++m) at[m] = cells.indices(m)[k];
    const Index place = find_nonzero<Real, LocalIndex>(x.tensor, natural, at);
    assert(place >= 0);
    return place;
  })};
}

// The block is looked for among those with its place in the longest mode. Inside, nonzeros are sorted.
template <class Real>
std::vector<Array<Index>> places_of(const HicooTensor<Real>& x, const Cells& cells) {
  constexpr int bits = HicooTensor<Real>::block_bits;
  const int longest = int(std::ranges::max_element(x.extents) - x.extents.begin());
  const auto& list = x.rows[longest];
  return {places_by(cells, [&](Index k) {
    const auto is_block = [&](Index block) {
      for (int m = 0; m < x.order(); ++m)
        if (x.places[m][block] != cells.indices(m)[k] >> bits) return false;
      return true;
    };
    Index at = list.first[cells.indices(longest)[k] >> bits];
    while (!is_block(list.blocks[at])) ++at;
    auto begin = x.first[list.blocks[at]], end = x.first[Index(list.blocks[at]) + 1];
    for (int m = 0; m < x.order(); ++m) {
      const auto offset = std::uint8_t(cells.indices(m)[k] & ((LocalIndex(1) << bits) - 1));
      const auto column = x.offsets[m].begin();
      const auto [low, high] = std::equal_range(column + begin, column + end, offset);
      begin = low - column;
      end = high - column;
    }
    return begin;
  })};
}

template <class Real>
std::vector<std::span<Real>> values_of(CsfTensor<Real>& x) {
  std::vector<std::span<Real>> values;
  for (auto& tree : x.trees) values.push_back(tree.values());
  return values;
}
template <class Real>
std::vector<std::span<Real>> values_of(CooTensor<Real>& x) {
  return {x.tensor.values()};
}
template <class Real>
std::vector<std::span<Real>> values_of(HicooTensor<Real>& x) {
  return {x.values};
}

}  // namespace

template <class Real>
ValuePlaces<Real>::ValuePlaces(const LocalTensor<Real>& x, const Cells& cells)
    : places_(std::visit([&](const auto& format) { return places_of(format, cells); }, x)) {}

template <class Real>
void ValuePlaces<Real>::assign(LocalTensor<Real>& x, std::span<const double> values, double scale) const {
  const auto arrays = std::visit([](auto& format) { return values_of(format); }, x);
  assert(arrays.size() == places_.size());
  for (std::size_t a = 0; a < arrays.size(); ++a)
    parallel_for(std::ssize(values), [&](Index k) { arrays[a][places_[a][k]] = Real(values[k] * scale); });
}

template class ValuePlaces<float>;
template class ValuePlaces<double>;

}  // namespace polyad
