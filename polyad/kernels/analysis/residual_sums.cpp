#include "polyad/kernels/analysis/residual_sums.hpp"

#include <algorithm>
#include <cmath>

#include "polyad/base/parallel.hpp"

namespace polyad::kernels {
namespace {

Magnitudes measure_part(std::span<const double> numbers) {
  Magnitudes part{Index(numbers.size())};
  for (const double x : numbers) part.largest = std::max(part.largest, std::abs(x));
  if (part.largest == 0) return part;
  for (const double x : numbers) {
    const double ratio = std::abs(x) / part.largest;
    part.sum += ratio;
    part.squares += ratio * ratio;
  }
  return part;
}

}  // namespace

double Magnitudes::root_mean_square() const {
  return count == 0 ? 0 : largest * std::sqrt(squares / double(count));
}

double Magnitudes::norm() const {
  return largest * std::sqrt(squares);
}

Magnitudes merge(const Magnitudes& a, const Magnitudes& b) {
  if (a.largest < b.largest) return merge(b, a);
  const double ratio = a.largest == 0 ? 0 : b.largest / a.largest;
  return {a.count + b.count, a.largest, a.sum + ratio * b.sum, a.squares + ratio * ratio * b.squares};
}

Magnitudes measure(std::span<const double> numbers) {
  std::vector<Magnitudes> parts(num_threads());
  parallel_parts(Index(numbers.size()), [&](Index begin, Index end, int thread) {
    parts[thread] = measure_part(numbers.subspan(std::size_t(begin), std::size_t(end - begin)));
  });
  Magnitudes whole;
  for (const auto& part : parts) whole = merge(whole, part);
  return whole;
}

void subtract(std::span<const double> values, std::span<const double> predictions,
              std::span<double> residuals) {
  parallel_for(Index(values.size()), [&](Index z) { residuals[z] = values[z] - predictions[z]; });
}

Index first_not_finite(std::span<const double> numbers) {
  const auto found = std::ranges::find_if_not(numbers, [](double x) { return std::isfinite(x); });
  return found == numbers.end() ? -1 : Index(found - numbers.begin());
}

std::vector<Index> largest_places(std::span<const double> numbers, Index count) {
  const auto is_larger = [&](Index a, Index b) {
    const double x = std::abs(numbers[a]), y = std::abs(numbers[b]);
    return x != y ? x > y : a < b;
  };
  std::vector<Index> heap;  // its front is the smallest that is kept
  for (Index z = 0; z < Index(numbers.size()) && count > 0; ++z) {
    if (Index(heap.size()) == count) {
      if (!is_larger(z, heap.front())) continue;
      std::ranges::pop_heap(heap, is_larger);
      heap.pop_back();
    }
    heap.push_back(z);
    std::ranges::push_heap(heap, is_larger);
  }
  std::ranges::sort(heap, is_larger);
  return heap;
}

}  // namespace polyad::kernels
