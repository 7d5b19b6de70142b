#include "polyad/tensor/compact.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/tensor/slice_counts.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

// Where each index stands among the slices. By a table where that costs no more than the nonzeros do.
Array<LocalIndex> local_numbers(std::span<const Index> indices, Index extent, std::span<const Index> slices) {
  Array<LocalIndex> local(indices.size());
  const auto count = Index(indices.size());
  if (Index(slices.size()) == extent) {
    parallel_for(count, [&](Index z) { local[z] = LocalIndex(indices[z]); });
  } else if (extent / 4 <= count) {
    Array<LocalIndex> number(static_cast<std::size_t>(extent));
    parallel_for(Index(slices.size()), [&](Index i) { number[slices[i]] = LocalIndex(i); });
    parallel_for(count, [&](Index z) { local[z] = number[indices[z]]; });
  } else {
    parallel_for(count, [&](Index z) {
      local[z] = LocalIndex(std::ranges::lower_bound(slices, indices[z]) - slices.begin());
    });
  }
  return local;
}

// The largest magnitude as a power of two, if it is so far from one that products of values, or sums of
// squares, would overflow or vanish; else 1.
template <class Real>
double scale_for(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  constexpr int tolerable = sizeof(Real) == sizeof(float) ? 10 : 100;
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  return std::abs(exponent) <= tolerable ? 1 : std::ldexp(1.0, exponent);
}

template <class Real>
Array<Real> scaled(Array<double> values, double scale) {
  if constexpr (std::is_same_v<Real, double>)
    if (scale == 1) return values;
  Array<Real> result(values.size());
  parallel_for(Index(values.size()), [&](Index z) { result[z] = Real(values[z] / scale); });
  return result;
}

}  // namespace

template <class Real>
CompactTensor<Real> compact(SparseTensor<double> x) {
  CompactTensor<Real> result;
  sort_nonzeros(x, natural_mode_order(x.order()));
  result.num_duplicates = merge_duplicates(x);
  result.global_extents = x.extents();
  const int order = x.order();
  auto [columns, values] = std::move(x).take();
  result.value_scale = scale_for<Real>(values);
  std::vector<Array<LocalIndex>> local(static_cast<std::size_t>(order));
  std::vector<Index> extents;
  for (int m = 0; m < order; ++m) {
    const Index extent = result.global_extents[m];
    result.rows.push_back(count_slices(columns[m], extent).slices);
    extents.push_back(Index(result.rows[m].size()));
    if (extents[m] > max_local_index)
      throw Error(Errc::resource, "mode " + std::to_string(m + 1) + " has " + std::to_string(extents[m]) +
                                      " non-empty slices; one process can hold " +
                                      std::to_string(max_local_index));
    local[m] = local_numbers(columns[m], extent, result.rows[m]);
    columns[m] = {};
  }
  result.tensor = {std::move(extents), std::move(local), scaled<Real>(std::move(values), result.value_scale)};
  return result;
}

template <class Real>
double squared_norm(std::span<const Real> values) {
  constexpr Index piece = 4096;  // partial sums of fixed pieces, added in order
  const Index count = std::ssize(values);
  Array<double> sums(static_cast<std::size_t>((count + piece - 1) / piece));
  parallel_for(std::ssize(sums), [&](Index p) {
    double sum = 0;
    for (Index z = p * piece; z < std::min(count, (p + 1) * piece); ++z)
      sum += double(values[z]) * double(values[z]);
    sums[p] = sum;
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

template CompactTensor<float> compact(SparseTensor<double>);
template CompactTensor<double> compact(SparseTensor<double>);
template double squared_norm(std::span<const float>);
template double squared_norm(std::span<const double>);

}  // namespace polyad
