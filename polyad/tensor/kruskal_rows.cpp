#include "polyad/tensor/kruskal_rows.hpp"

#include <algorithm>

#include "polyad/base/parallel.hpp"

namespace polyad {

Index end_of_stretch(std::span<const Index> rows, Index extent, Index begin, Index count) {
  const auto beyond = std::ranges::lower_bound(rows, begin) - rows.begin() + count;
  return beyond < std::ssize(rows) ? rows[std::size_t(beyond)] : extent;
}

template <class Real>
KruskalRows<Real> rows_in_memory(const Kruskal<Real>& model, std::vector<std::span<const Index>> global,
                                 std::vector<Index> extents) {
  std::vector<Index> num_rows;
  for (const auto& factor : model.factors) num_rows.push_back(factor.num_rows());
  const auto read = [&model, global](int mode, Index begin, Index end) {
    const auto& rows = global[mode];
    const Index first = std::ranges::lower_bound(rows, begin) - rows.begin();
    const Index last = std::ranges::lower_bound(rows, end) - rows.begin();
    const Index n = model.num_components();
    RowBlock<Real> block{{rows.begin() + first, rows.begin() + last}, Matrix<Real>(last - first, n)};
    std::copy_n(model.factors[mode].flat().begin() + first * n, (last - first) * n,
                block.values.flat().begin());
    return block;
  };
  const auto end_of = [global = std::move(global), extents](int mode, Index begin, Index count) {
    return end_of_stretch(global[mode], extents[mode], begin, count);
  };
  return {model.weights, std::move(extents), std::move(num_rows), read, end_of};
}

Index rows_at_once(Index num_components) {
  constexpr Index numbers_at_once = Index(1) << 19;
  return std::max<Index>(1, numbers_at_once / std::max<Index>(1, num_components));
}

template <class Real>
void for_each_block(const KruskalRows<Real>& model, int mode,
                    const std::function<void(const RowBlock<Real>&)>& take) {
  const Index step = rows_at_once(model.num_components()), extent = model.extents[mode];
  for (Index first = 0; first < extent;) {
    const Index last = model.end_of(mode, first, step);
    take(model.read(mode, first, last));
    first = last;
  }
}

template <class Real>
Matrix<double> full_block(const RowBlock<Real>& block, Index first, Index last,
                          std::span<const double> empty_row) {
  Matrix<double> full(last - first, block.values.num_cols());
  if (!empty_row.empty())
    for (Index i = 0; i < full.num_rows(); ++i) std::ranges::copy(empty_row, full.row(i).begin());
  parallel_for(std::ssize(block.rows), [&](Index i) {
    std::ranges::copy(block.values.row(i), full.row(block.rows[i] - first).begin());
  });
  return full;
}

template <class Real>
void for_each_full_block(const KruskalRows<Real>& model, int mode,
                         const std::function<void(Index, const Matrix<double>&)>& take) {
  const Index step = rows_at_once(model.num_components()), extent = model.extents[mode];
  const auto empty_row =
      model.empty_rows.empty() ? std::span<const double>() : std::span<const double>(model.empty_rows[mode]);
  for (Index first = 0; first < extent; first += step) {
    const Index last = std::min(extent, first + step);
    take(first, full_block(model.read(mode, first, last), first, last, empty_row));
  }
}

template KruskalRows<float> rows_in_memory(const Kruskal<float>&, std::vector<std::span<const Index>>,
                                           std::vector<Index>);
template KruskalRows<double> rows_in_memory(const Kruskal<double>&, std::vector<std::span<const Index>>,
                                            std::vector<Index>);
template void for_each_block(const KruskalRows<float>&, int,
                             const std::function<void(const RowBlock<float>&)>&);
template void for_each_block(const KruskalRows<double>&, int,
                             const std::function<void(const RowBlock<double>&)>&);
template Matrix<double> full_block(const RowBlock<float>&, Index, Index, std::span<const double>);
template Matrix<double> full_block(const RowBlock<double>&, Index, Index, std::span<const double>);
template void for_each_full_block(const KruskalRows<float>&, int,
                                  const std::function<void(Index, const Matrix<double>&)>&);
template void for_each_full_block(const KruskalRows<double>&, int,
                                  const std::function<void(Index, const Matrix<double>&)>&);

}  // namespace polyad
