#include "polyad/tensor/coordinates_of.hpp"

#include <utility>

#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

using Coordinates = SparseTensor<double, LocalIndex>;

template <class Real>
Coordinates with_values(const std::vector<Index>& extents, std::span<const Real> values) {
  Coordinates result(extents);
  result.resize(std::ssize(values));
  const auto to = result.values();
  parallel_for(std::ssize(values), [&](Index z) { to[z] = double(values[z]); });
  return result;
}

template <class Real>
Coordinates coordinates(const CooTensor<Real>& x) {
  auto result = with_values<Real>(x.tensor.extents(), x.tensor.values());
  for (int m = 0; m < x.order(); ++m) {
    const auto from = x.tensor.indices(m);
    const auto to = result.indices(m);
    parallel_for(std::ssize(from), [&](Index z) { to[z] = from[z]; });
  }
  return result;
}

// Of the first tree: each has all nonzeros.
template <class Real>
Coordinates coordinates(const CsfTensor<Real>& x) {
  const auto& tree = x.trees.front();
  auto result = with_values<Real>(x.extents, tree.values());
  for (int level = 0; level < tree.order(); ++level) {
    const auto ids = tree.ids(level);
    const auto to = result.indices(tree.modes()[level]);
    parallel_for(tree.num_nodes(level), [&](Index node) {
      const Index end = tree.first_nonzero(level, node + 1);
      for (Index z = tree.first_nonzero(level, node); z < end; ++z) to[z] = ids[node];
    });
  }
  return result;
}

template <class Real>
Coordinates coordinates(const HicooTensor<Real>& x) {
  auto result = with_values<Real>(x.extents, x.values);
  for (int m = 0; m < x.order(); ++m) {
    const auto to = result.indices(m);
    parallel_for(x.num_blocks(), [&](Index block) {
      const LocalIndex first = x.places[m][block] << HicooTensor<Real>::block_bits;
      for (Index z = x.first[block]; z < x.first[block + 1]; ++z) to[z] = first + x.offsets[m][z];
    });
  }
  return result;
}

}  // namespace

template <class Real>
SparseTensor<double, LocalIndex> coordinates_of(const LocalTensor<Real>& x) {
  return std::visit([](const auto& format) { return coordinates(format); }, x);
}

template SparseTensor<double, LocalIndex> coordinates_of(const LocalTensor<float>&);
template SparseTensor<double, LocalIndex> coordinates_of(const LocalTensor<double>&);

}  // namespace polyad
