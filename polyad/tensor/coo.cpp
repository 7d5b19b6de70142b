#include "polyad/tensor/coo.hpp"

#include <algorithm>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

template <class Real>
typename CooTensor<Real>::RowLists list_rows(const SparseTensor<Real, LocalIndex>& x, int mode) {
  typename CooTensor<Real>::RowLists lists;
  const auto indices = x.indices(mode);
  lists.first.assign(std::size_t(x.extent(mode)) + 1, 0);
  for (const LocalIndex row : indices) ++lists.first[row + 1];
  for (std::size_t row = 1; row < lists.first.size(); ++row) lists.first[row] += lists.first[row - 1];
  if (std::ranges::is_sorted(indices)) return lists;
  auto next = lists.first;
  lists.nonzeros.resize(indices.size());
  for (Index z = 0; z < x.num_nonzeros(); ++z) lists.nonzeros[next[indices[z]]++] = LocalIndex(z);
  return lists;
}

}  // namespace

template <class Real>
Index CooTensor<Real>::bytes() const {
  Index sum = coordinate_bytes(order(), tensor.num_nonzeros(), sizeof(Real), sizeof(LocalIndex));
  for (const auto& lists : rows)
    sum += std::ssize(lists.first) * Index(sizeof(Index)) +
           std::ssize(lists.nonzeros) * Index(sizeof(LocalIndex));
  return sum;
}

template <class Real>
CooTensor<Real> build_coo(SparseTensor<Real, LocalIndex> x) {
  if (x.num_nonzeros() > max_local_index)
    throw Error(Errc::resource, "the coo format holds up to " + std::to_string(max_local_index) +
                                    " nonzeros on a process, not " + std::to_string(x.num_nonzeros()));
  CooTensor<Real> coo;
  coo.tensor = std::move(x);
  coo.rows.resize(std::size_t(coo.order()));
  parallel_for(coo.order(), [&](Index m) { coo.rows[m] = list_rows(coo.tensor, int(m)); });
  return coo;
}

Index coo_bytes(std::span<const Index> extents, Index num_nonzeros, Index value_bytes) {
  const auto order = int(extents.size());
  // Sorted by its first mode, that needs no list.
  Index sum = coordinate_bytes(2 * order - 1, num_nonzeros, value_bytes, sizeof(LocalIndex));
  for (const Index extent : extents) sum += (extent + 1) * Index(sizeof(Index));
  return sum;
}

template struct CooTensor<float>;
template struct CooTensor<double>;
template CooTensor<float> build_coo(SparseTensor<float, LocalIndex>);
template CooTensor<double> build_coo(SparseTensor<double, LocalIndex>);

}  // namespace polyad
