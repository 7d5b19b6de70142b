// Reads a tensor and names the busiest slices of each mode:
//   example_busiest_slices data/debian.tns.gz

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "polyad/base/error.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/tensor/slice_counts.hpp"

namespace {

void show_busiest(const polyad::SliceCounts& slices, const polyad::ModeLabels& mode) {
  std::vector<std::size_t> places(slices.counts.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, std::greater(), [&](std::size_t p) { return slices.counts[p]; });
  places.resize(std::min<std::size_t>(places.size(), 3));
  std::printf("%s\n", mode.name.c_str());
  for (const auto place : places) {
    const auto slice = std::size_t(slices.slices[place]);
    const std::string label = slice < mode.labels.size() ? mode.labels[slice] : std::to_string(slice + 1);
    std::printf("  %8lld  %s\n", static_cast<long long>(slices.counts[place]), label.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s TENSOR\n", argv[0]);
    return 2;
  }
  try {
    const auto loaded = polyad::io::read_tensor(argv[1]);
    const auto& x = loaded.tensor;
    const auto labels = polyad::io::find_labels(polyad::io::labels_of_tensor(argv[1]), x.extents()).labels;
    for (int m = 0; m < x.order(); ++m)
      show_busiest(polyad::count_slices(x.indices(m), x.extent(m)), labels[m]);
  } catch (const polyad::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
