#include <vector>

#include "polyad/io/arrays/npy_diagonal.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "tests/fuzz/fuzz_file.hpp"

namespace {

template <class Source>
void read_all(const Source& source, const std::vector<polyad::Index>& shape) {
  polyad::Index size = 1;  // the file is as long as its shape says
  for (const polyad::Index extent : shape) size *= extent;
  std::vector<double> numbers(static_cast<std::size_t>(size));
  source.template read<double>(0, numbers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace polyad;
  const fuzz::MemoryFile file(bytes, size);
  fuzz::expect_sound([&] {
    const io::NpyFile array(file.path());
    read_all(array, array.head().shape);
  });
  fuzz::expect_sound([&] {
    const io::NpyFile array(file.path());
    std::vector<int> labels(array.head().shape.size(), 0);
    if (labels.size() > 2) labels[1] = 1;
    const io::NpyDiagonal diagonal(array, labels);
    read_all(diagonal, diagonal.shape());
  });
  // As tensors: dense arrays, and archives of sparse ones.
  fuzz::expect_sound([&] {
    const auto loaded = io::read_tensor(file.path());
    for (int m = 0; m < loaded.tensor.order(); ++m)
      for (const Index index : loaded.tensor.indices(m))
        if (index < 0 || index >= loaded.tensor.extent(m)) std::abort();
  });
  return 0;
}
