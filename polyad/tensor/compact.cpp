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

double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// The largest magnitude as a power of two, if it is so far from one that products of values, or sums of
// squares, would overflow or vanish; else 1.
template <class Real>
double scale_for(double largest) {
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

std::vector<RowNumbers> number_rows(const SparseTensor<double>& x) {
  std::vector<RowNumbers> modes;
  for (int m = 0; m < x.order(); ++m) {
    auto& rows = modes.emplace_back();
    rows.slices = count_slices(x.indices(m), x.extent(m)).slices;
    rows.num_rows = std::ssize(rows.slices);
    if (rows.num_rows > max_local_index)
      throw Error(Errc::resource, "mode " + std::to_string(m + 1) + " has " + std::to_string(rows.num_rows) +
                                      " non-empty slices; one process can hold " +
                                      std::to_string(max_local_index));
  }
  return modes;
}

// By a table where that costs no more than the nonzeros do.
Array<LocalIndex> number_nonzeros(std::span<const Index> indices, Index extent, const RowNumbers& rows) {
  Array<LocalIndex> local(indices.size());
  const auto count = Index(indices.size());
  const auto number = [&](Index i) { return rows.numbers.empty() ? LocalIndex(i) : rows.numbers[i]; };
  if (Index(rows.slices.size()) == extent) {
    parallel_for(count, [&](Index z) { local[z] = number(indices[z]); });
  } else if (extent / 4 <= count) {
    Array<LocalIndex> numbers(static_cast<std::size_t>(extent));
    parallel_for(std::ssize(rows.slices), [&](Index i) { numbers[rows.slices[i]] = number(i); });
    parallel_for(count, [&](Index z) { local[z] = numbers[indices[z]]; });
  } else {
    parallel_for(count, [&](Index z) {
      local[z] = number(std::ranges::lower_bound(rows.slices, indices[z]) - rows.slices.begin());
    });
  }
  return local;
}

template <class Real>
RenumberedTensor<Real> renumber(SparseTensor<double> x, std::span<const RowNumbers> rows,
                                const LargestOfAll& largest_of_all) {
  const auto extents = x.extents();
  auto [columns, values] = std::move(x).take();
  std::vector<Array<LocalIndex>> local(columns.size());
  std::vector<Index> num_rows;
  for (std::size_t m = 0; m < columns.size(); ++m) {
    local[m] = number_nonzeros(columns[m], extents[m], rows[m]);
    num_rows.push_back(rows[m].num_rows);
    columns[m] = Array<Index>();  // {} would keep its memory
  }
  // Duplicates are added up as they came, in double.
  SparseTensor<double, LocalIndex> sorted(num_rows, std::move(local), std::move(values));
  sort_nonzeros(sorted, natural_mode_order(sorted.order()));
  RenumberedTensor<Real> result;
  result.num_duplicates = merge_duplicates(sorted);
  auto arrays = std::move(sorted).take();
  if (result.num_duplicates > 0) {
    for (auto& column : arrays.indices) column.shrink_to_fit();
    arrays.values.shrink_to_fit();
  }
  result.value_scale = scale_for<Real>(largest_of_all(largest_magnitude(arrays.values)));
  result.tensor = {std::move(num_rows), std::move(arrays.indices),
                   scaled<Real>(std::move(arrays.values), result.value_scale)};
  return result;
}

template <class Real>
CompactTensor<Real> compact(SparseTensor<double> x) {
  CompactTensor<Real> result;
  result.global_extents = x.extents();
  auto rows = number_rows(x);
  auto renumbered = renumber<Real>(std::move(x), rows, [](double largest) { return largest; });
  for (auto& mode : rows) result.rows.push_back(std::move(mode.slices));
  result.tensor = std::move(renumbered.tensor);
  result.num_duplicates = renumbered.num_duplicates;
  result.value_scale = renumbered.value_scale;
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

template RenumberedTensor<float> renumber(SparseTensor<double>, std::span<const RowNumbers>,
                                          const LargestOfAll&);
template RenumberedTensor<double> renumber(SparseTensor<double>, std::span<const RowNumbers>,
                                           const LargestOfAll&);
template CompactTensor<float> compact(SparseTensor<double>);
template CompactTensor<double> compact(SparseTensor<double>);
template double squared_norm(std::span<const float>);
template double squared_norm(std::span<const double>);

}  // namespace polyad
