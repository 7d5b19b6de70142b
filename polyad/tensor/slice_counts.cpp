#include "polyad/tensor/slice_counts.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/base/radix_sort.hpp"

namespace polyad {
namespace {

// For modes short enough that a counter per slice costs no more than the nonzeros themselves.
SliceCounts count_densely(std::span<const Index> indices, Index extent) {
  std::vector<Array<Index>> per_thread(num_threads());
  parallel_parts(Index(indices.size()), [&](Index begin, Index end, int thread) {
    auto& counts = per_thread[thread];
    counts.assign(std::size_t(extent), 0);
    for (Index z = begin; z < end; ++z) ++counts[indices[z]];
  });
  SliceCounts result;
  for (std::size_t slice = 0; slice < std::size_t(extent); ++slice) {
    Index count = 0;
    for (const auto& counts : per_thread) count += counts.empty() ? 0 : counts[slice];
    if (count == 0) continue;
    result.slices.push_back(Index(slice));
    result.counts.push_back(count);
  }
  return result;
}

SliceCounts count_by_sorting(std::span<const Index> indices, Index extent) {
  Array<KeyedPosition> items(indices.size());
  parallel_for(Index(items.size()), [&](Index i) { items[i] = {std::uint64_t(indices[i]), i}; });
  radix_sort(items, int(std::bit_width(std::uint64_t(extent - 1))));
  SliceCounts result;
  for (const auto& item : items) {
    if (result.slices.empty() || result.slices.back() != Index(item.key)) {
      result.slices.push_back(Index(item.key));
      result.counts.push_back(0);
    }
    ++result.counts.back();
  }
  return result;
}

}  // namespace

SliceCounts count_slices(std::span<const Index> indices, Index extent) {
  if (indices.empty()) return {};
  const bool dense = extent <= Index(indices.size()) / num_threads() + 1024;
  return dense ? count_densely(indices, extent) : count_by_sorting(indices, extent);
}

SliceSummary summarise(const SliceCounts& slices) {
  SliceSummary summary;
  summary.nonempty = Index(slices.counts.size());
  for (const Index count : slices.counts) {
    summary.nonzeros += count;
    summary.max = std::max(summary.max, count);
    ++summary.histogram[std::size_t(std::bit_width(std::uint64_t(count)) - 1)];
  }
  return summary;
}

SliceSummary operator+(const SliceSummary& a, const SliceSummary& b) {
  SliceSummary sum = a;
  sum.nonempty += b.nonempty;
  sum.nonzeros += b.nonzeros;
  sum.max = std::max(a.max, b.max);
  for (std::size_t i = 0; i < sum.histogram.size(); ++i) sum.histogram[i] += b.histogram[i];
  return sum;
}

}  // namespace polyad
