#include "polyad/tensor/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"
#include "polyad/tensor/generate/permutation.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

// Streams of this file, far from those of starts and of generators.
constexpr std::uint64_t first_stream = std::uint64_t(1) << 41;

double num_cells(const SparseTensor<double, LocalIndex>& x) {
  double cells = 1;
  for (const Index extent : x.extents()) cells *= double(extent);
  return cells;
}

// A fraction of a number, rounded.
Index share(double fraction, double of) {
  return Index(std::llround(std::min(fraction * of, 0x1p62)));
}

Array<Index> draw_nonzeros(Index num_nonzeros, Index count, std::uint64_t seed) {
  Array<Index> drawn(static_cast<std::size_t>(count));
  if (count == 0) return drawn;
  const RandomPermutation shuffled(num_nonzeros, Random(seed, first_stream));
  parallel_for(count, [&](Index k) { drawn[k] = shuffled(k); });
  std::ranges::sort(drawn);
  return drawn;
}

// Distinct zeros, by drawing cells and leaving those that are none: fewer than asked for when hardly any
// cell is zero.
SparseTensor<double, LocalIndex> draw_zeros(const SparseTensor<double, LocalIndex>& x,
                                            std::span<const int> mode_order, Index count,
                                            std::uint64_t seed) {
  constexpr Index patience = 1000;
  SparseTensor<double, LocalIndex> zeros(x.extents());
  std::vector<Index> at(x.extents().size());
  Index draw = 0;
  for (Index found = -1; zeros.num_nonzeros() > found && zeros.num_nonzeros() < count;) {
    found = zeros.num_nonzeros();
    for (const Index end = draw + patience * (count - found); draw < end && zeros.num_nonzeros() < count;
         ++draw) {
      for (int m = 0; m < x.order(); ++m)
        at[m] = Index(Random(seed, first_stream + 1 + std::uint64_t(m))
                          .below(std::uint64_t(x.extent(m)), std::uint64_t(draw)));
      if (find_nonzero(x, mode_order, at) < 0) zeros.append(at, 0);
    }
    sort_nonzeros(zeros, natural_mode_order(x.order()));
    merge_duplicates(zeros);
  }
  return zeros;
}

}  // namespace

HeldOut hold_out(const CompactTensor<double>& x, std::span<const int> mode_order, double fraction,
                 std::uint64_t seed) {
  const auto& tensor = x.tensor;
  const Index count = tensor.num_nonzeros();
  const double all = num_cells(tensor), num_zeros = all - double(count);
  HeldOut result;
  result.value_scale = x.value_scale;
  result.nonzeros = draw_nonzeros(
      count, std::clamp<Index>(share(fraction, double(count)), std::min<Index>(1, count), count), seed);
  result.cells = SparseTensor<double, LocalIndex>(tensor.extents());
  std::vector<Index> at(tensor.extents().size());
  Array<double> known(tensor.values().begin(), tensor.values().end());
  for (const Index z : result.nonzeros) {
    for (int m = 0; m < tensor.order(); ++m) at[m] = tensor.indices(m)[z];
    result.cells.append(at, std::exchange(known[z], 0.0));
  }
  const auto zeros =
      draw_zeros(tensor, mode_order, std::min(result.num_nonzeros(), share(fraction, num_zeros)), seed);
  for (Index k = 0; k < zeros.num_nonzeros(); ++k) {
    for (int m = 0; m < tensor.order(); ++m) at[m] = zeros.indices(m)[k];
    result.cells.append(at, 0);
  }
  double sum = 0;
  for (const double value : known) sum += value;
  result.known_mean = sum / std::max(1.0, all - double(result.cells.num_nonzeros()));
  result.known_squared_norm = squared_norm<double>(known);
  return result;
}

SparseTensor<double> expand(const CompactTensor<double>& x) {
  SparseTensor<double> result(x.global_extents);
  result.resize(x.tensor.num_nonzeros());
  parallel_for(result.num_nonzeros(), [&](Index z) {
    for (int m = 0; m < result.order(); ++m) result.indices(m)[z] = x.rows[m][x.tensor.indices(m)[z]];
    result.values()[z] = x.tensor.values()[z] * x.value_scale;
  });
  return result;
}

SparseTensor<double> expand_without(const CompactTensor<double>& x, const HeldOut& held_out) {
  auto result = expand(x);
  const double hidden = held_out.known_mean * x.value_scale;
  for (const Index z : held_out.nonzeros) result.values()[z] = hidden;
  const Index first = result.num_nonzeros() - held_out.num_nonzeros();
  result.resize(result.num_nonzeros() + held_out.num_zeros());
  for (Index k = held_out.num_nonzeros(); k < held_out.cells.num_nonzeros(); ++k) {
    for (int m = 0; m < result.order(); ++m)
      result.indices(m)[first + k] = x.rows[m][held_out.cells.indices(m)[k]];
    result.values()[first + k] = hidden;
  }
  return result;
}

}  // namespace polyad
