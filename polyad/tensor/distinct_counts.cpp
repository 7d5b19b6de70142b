#include "polyad/tensor/distinct_counts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "polyad/base/parallel.hpp"
#include "polyad/tensor/hicoo.hpp"

namespace polyad {
namespace {

// The finalizer of SplitMix64: every bit of the result depends on every bit of x.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Runs add(sketches, nonzero) over all nonzeros.
template <class Add>
std::vector<DistinctSketch> sketch(Index num_nonzeros, std::size_t num_sketches, Add add) {
  std::vector<std::vector<DistinctSketch>> per_thread(num_threads());
  parallel_parts(num_nonzeros, [&](Index begin, Index end, int thread) {
    auto& sketches = per_thread[thread];
    sketches.resize(num_sketches);
    for (Index z = begin; z < end; ++z) add(sketches, z);
  });
  std::vector<DistinctSketch> whole(num_sketches);
  for (const auto& sketches : per_thread)
    for (std::size_t s = 0; s < sketches.size(); ++s) whole[s].merge(sketches[s]);
  return whole;
}

// row_of(mode, nonzero) is a global row.
template <class RowOf>
std::vector<DistinctSketch> sketch_rows(Index num_nonzeros, int order, std::span<const ModeSet> sets,
                                        RowOf row_of) {
  return sketch(num_nonzeros, sets.size(), [&](auto& sketches, Index z) {
    std::array<std::uint64_t, max_order> hash{};
    for (int m = 0; m < order; ++m)
      hash[m] = mixed(std::uint64_t(row_of(m, z)) * max_order + std::uint64_t(m) + 1);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      std::uint64_t sum = 0;
      for (ModeSet rest = sets[s]; rest != 0; rest &= rest - 1) sum += hash[std::countr_zero(rest)];
      sketches[s].add(mixed(sum));
    }
  });
}

}  // namespace

void DistinctSketch::add(std::uint64_t hash) {
  auto& rank = ranks_[hash >> (64 - index_bits)];
  const auto zeros = std::uint8_t(std::countl_zero(hash << index_bits | 1) + 1);
  rank = std::max(rank, zeros);
}

void DistinctSketch::merge(const DistinctSketch& other) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) ranks_[i] = std::max(ranks_[i], other.ranks_[i]);
}

double DistinctSketch::estimate() const {
  const auto count = double(ranks_.size());
  double sum = 0;
  for (const auto rank : ranks_) sum += std::exp2(-double(rank));
  const double estimate = 0.7213 / (1 + 1.079 / count) * count * count / sum;
  const auto empty = double(std::ranges::count(ranks_, 0));
  // Few values leave registers empty, whose number says more.
  return estimate <= 2.5 * count && empty > 0 ? count * std::log(count / empty) : estimate;
}

template <class Real>
std::vector<DistinctSketch> sketch_distinct(const SparseTensor<Real, LocalIndex>& x,
                                            std::span<const std::span<const Index>> rows,
                                            std::span<const ModeSet> sets) {
  return sketch_rows(x.num_nonzeros(), x.order(), sets,
                     [&](int mode, Index z) { return rows[mode][x.indices(mode)[z]]; });
}

std::vector<DistinctSketch> sketch_distinct(const SparseTensor<double>& x, std::span<const ModeSet> sets) {
  return sketch_rows(x.num_nonzeros(), x.order(), sets,
                     [&](int mode, Index z) { return x.indices(mode)[z]; });
}

template <class Real>
double estimate_blocks(const SparseTensor<Real, LocalIndex>& x) {
  return sketch(x.num_nonzeros(), 1,
                [&](auto& sketches, Index z) {
                  std::uint64_t sum = 0;
                  for (int m = 0; m < x.order(); ++m)
                    sum +=
                        mixed((std::uint64_t(x.indices(m)[z]) >> HicooTensor<Real>::block_bits) * max_order +
                              std::uint64_t(m) + 1);
                  sketches[0].add(mixed(sum));
                })[0]
      .estimate();
}

template std::vector<DistinctSketch> sketch_distinct(const SparseTensor<float, LocalIndex>&,
                                                     std::span<const std::span<const Index>>,
                                                     std::span<const ModeSet>);
template double estimate_blocks(const SparseTensor<float, LocalIndex>&);

template std::vector<DistinctSketch> sketch_distinct(const SparseTensor<double, LocalIndex>&,
                                                     std::span<const std::span<const Index>>,
                                                     std::span<const ModeSet>);
template double estimate_blocks(const SparseTensor<double, LocalIndex>&);

}  // namespace polyad
