#include "polyad/tensor/hicoo.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/radix_sort.hpp"

namespace polyad {
namespace {

constexpr int block_bits = HicooTensor<double>::block_bits;
constexpr LocalIndex offset_mask = (LocalIndex(1) << block_bits) - 1;

// The bits of the places from the most to the least significant along the Z-order curve: modes take
// turns, from the highest bit down.
struct PlaceBit {
  int mode, bit;
};

std::vector<PlaceBit> curve_bits(const std::vector<Index>& extents) {
  std::vector<PlaceBit> bits;
  for (int bit = 31 - block_bits; bit >= 0; --bit)
    for (int m = 0; m < int(extents.size()); ++m)
      if ((extents[m] - 1) >> (bit + block_bits) > 0) bits.push_back({m, bit});
  return bits;
}

template <class Real>
std::uint64_t curve_key(const SparseTensor<Real, LocalIndex>& x, Index z, std::span<const PlaceBit> bits) {
  std::uint64_t key = 0;
  for (const auto& [mode, bit] : bits) key = key << 1 | (x.indices(mode)[z] >> (bit + block_bits) & 1);
  return key;
}

// The nonzeros along the curve; those of a block stay in their order.
template <class Real>
Array<KeyedPosition> along_curve(const SparseTensor<Real, LocalIndex>& x) {
  Array<KeyedPosition> items(x.values().size());
  parallel_for(x.num_nonzeros(), [&](Index z) { items[z] = {0, z}; });
  const auto bits = curve_bits(x.extents());
  std::span<const PlaceBit> rest = bits;
  while (!rest.empty()) {  // 64 bits at a time, the least significant first
    const auto group = rest.last(std::min<std::size_t>(rest.size(), 64));
    rest = rest.first(rest.size() - group.size());
    parallel_for(x.num_nonzeros(), [&](Index i) { items[i].key = curve_key(x, items[i].position, group); });
    radix_sort(items, int(group.size()));
  }
  return items;
}

template <class Real>
bool same_block(const SparseTensor<Real, LocalIndex>& x, Index a, Index b) {
  for (int m = 0; m < x.order(); ++m)
    if (x.indices(m)[a] >> block_bits != x.indices(m)[b] >> block_bits) return false;
  return true;
}

template <class Real>
Array<Index> block_starts(const SparseTensor<Real, LocalIndex>& x, const Array<KeyedPosition>& items) {
  Array<Index> first;
  for (Index i = 0; i < std::ssize(items); ++i)
    if (i == 0 || !same_block(x, items[i].position, items[i - 1].position)) first.push_back(i);
  first.push_back(std::ssize(items));
  return first;
}

template <class Real>
typename HicooTensor<Real>::BlockRows list_blocks(std::span<const LocalIndex> places, Index extent) {
  typename HicooTensor<Real>::BlockRows rows;
  rows.first.assign(std::size_t(((extent - 1) >> block_bits) + 2), 0);
  for (const LocalIndex place : places) ++rows.first[place + 1];
  for (std::size_t place = 1; place < rows.first.size(); ++place) rows.first[place] += rows.first[place - 1];
  auto next = rows.first;
  rows.blocks.resize(places.size());
  for (std::size_t block = 0; block < places.size(); ++block)
    rows.blocks[next[places[block]]++] = LocalIndex(block);
  return rows;
}

}  // namespace

template <class Real>
Index HicooTensor<Real>::bytes() const {
  return hicoo_bytes(extents, num_nonzeros(), num_blocks(), sizeof(Real));
}

template <class Real>
HicooTensor<Real> build_hicoo(SparseTensor<Real, LocalIndex> x) {
  const auto items = along_curve(x);
  HicooTensor<Real> result;
  result.extents = x.extents();
  result.first = block_starts(x, items);
  const Index blocks = result.num_blocks();
  if (blocks > max_local_index)
    throw Error(Errc::resource, "the hicoo format holds up to " + std::to_string(max_local_index) +
                                    " blocks on a process, not " + std::to_string(blocks));
  result.values.resize(items.size());
  parallel_for(std::ssize(items), [&](Index i) { result.values[i] = x.values()[items[i].position]; });
  for (int m = 0; m < x.order(); ++m) {
    const auto indices = x.indices(m);
    auto& places = result.places.emplace_back(static_cast<std::size_t>(blocks));
    auto& offsets = result.offsets.emplace_back(items.size());
    parallel_for(blocks,
                 [&](Index b) { places[b] = indices[items[result.first[b]].position] >> block_bits; });
    parallel_for(std::ssize(items),
                 [&](Index i) { offsets[i] = std::uint8_t(indices[items[i].position] & offset_mask); });
    result.rows.push_back(list_blocks<Real>(places, x.extent(m)));
  }
  return result;
}

Index hicoo_bytes(std::span<const Index> extents, Index num_nonzeros, Index num_blocks, Index value_bytes) {
  const auto order = Index(extents.size());
  Index sum = num_nonzeros * (order + value_bytes) + (num_blocks + 1) * Index(sizeof(Index));
  sum += 2 * order * num_blocks * Index(sizeof(LocalIndex));  // places, and the lists of blocks
  for (const Index extent : extents) sum += (((extent - 1) >> block_bits) + 2) * Index(sizeof(Index));
  return sum;
}

template struct HicooTensor<float>;
template struct HicooTensor<double>;
template HicooTensor<float> build_hicoo(SparseTensor<float, LocalIndex>);
template HicooTensor<double> build_hicoo(SparseTensor<double, LocalIndex>);

}  // namespace polyad
