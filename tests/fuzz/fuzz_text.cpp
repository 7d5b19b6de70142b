#include "polyad/io/tensors/read_tensor.hpp"
#include "tests/fuzz/fuzz_file.hpp"

// Any text: strictly, with faults collected, and in two shares; all must agree on what is sound.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace polyad;
  const fuzz::MemoryFile file(bytes, size);
  fuzz::expect_sound([&] {
    const auto whole = io::read_tensor(file.path());
    Index in_shares = 0;
    for (int part = 0; part < 2; ++part)
      in_shares += io::read_slab(file.path(), {.share = {part, 2}}).facts.num_nonzeros;
    if (in_shares != whole.tensor.num_nonzeros()) std::abort();
    for (int m = 0; m < whole.tensor.order(); ++m)
      for (const Index index : whole.tensor.indices(m))
        if (index < 0 || index >= whole.tensor.extent(m)) std::abort();
  });
  fuzz::expect_sound([&] {
    std::vector<io::Problem> problems;
    io::read_tensor(file.path(), {.problems = &problems});
  });
  return 0;
}
