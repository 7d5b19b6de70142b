#include "polyad/io/arrays/npy_diagonal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace polyad::io {

NpyDiagonal::NpyDiagonal(const NpyFile& file, const std::vector<int>& labels) : file_(file) {
  const auto& extents = file.head().shape;
  std::vector<Index> strides(extents.size());
  Index stride = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::size_t m = file.head().by_columns ? i : extents.size() - 1 - i;
    strides[m] = stride;
    stride *= extents[m];
  }
  for (std::size_t m = 0; m < labels.size(); ++m) {
    const auto first = std::size_t(std::ranges::find(labels, labels[m]) - labels.begin());
    if (extents[m] != extents[first])
      file.fail(fmt::format("has no diagonal of dimensions {} and {}: they have extents {} and {}", first + 1,
                            m + 1, extents[first], extents[m]));
    if (first < m) continue;
    Index together = 0;
    for (std::size_t other = m; other < labels.size(); ++other)
      if (labels[other] == labels[m]) together += strides[other];
    shape_.push_back(extents[m]);
    loops_.push_back({extents[m], together});
  }
  if (!file.head().by_columns) std::ranges::reverse(loops_);
  is_whole_ = shape_.size() == extents.size();
}

template <class Real>
void NpyDiagonal::read(Index first, std::span<Real> into) const {
  if (is_whole_) return file_.read(first, into);
  // In stretches along the fastest mode: there is one.
  while (!into.empty()) {
    Index position = 0, rest = first;
    for (const auto& [extent, stride] : loops_) {
      position += rest % extent * stride;
      rest /= extent;
    }
    const auto& [extent, step] = loops_.front();
    const Index count = std::min(extent - first % extent, std::ssize(into));
    file_.read_apart(position, step, into.first(std::size_t(count)));
    into = into.subspan(std::size_t(count));
    first += count;
  }
}
template void NpyDiagonal::read(Index, std::span<float>) const;
template void NpyDiagonal::read(Index, std::span<double>) const;

}  // namespace polyad::io
