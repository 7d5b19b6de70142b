#include "polyad/tasks/detail/memory_use.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "polyad/base/memory.hpp"

namespace polyad::tasks {
namespace {

Index label_bytes(std::span<const ModeLabels> labels) {
  constexpr Index short_text = 15;  // is kept inside the string
  Index bytes = 0;
  for (const auto& mode : labels)
    for (const auto& label : mode.labels) {
      const auto length = Index(label.size());
      bytes += Index(sizeof(std::string)) + (length > short_text ? length + 16 : 0);
    }
  return bytes;
}

}  // namespace

Index bytes_beside(const io::LoadedTensor& loaded) {
  trim_memory();
  const auto& x = loaded.tensor;
  const Index coordinates = coordinate_bytes(x.order(), x.num_nonzeros(), sizeof(double));
  return std::max(label_bytes(loaded.labels), resident_memory_bytes() - program_bytes() - coordinates);
}

bool WatchedMemory::has_grown() const {
  return peak_memory_bytes() > before_;
}

Index WatchedMemory::most() const {
  const Index taken = has_grown() ? peak_memory_bytes() : resident_memory_bytes();
  return std::max<Index>(0, taken - program_bytes());
}

}  // namespace polyad::tasks
