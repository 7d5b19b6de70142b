#include "polyad/io/tensors/read_tensor.hpp"
#include "tests/fuzz/fuzz_file.hpp"

// The first line chooses the columns, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace polyad;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto columns = text.substr(0, text.find('\n'));
  const std::size_t used = std::min(columns.size() + 1, size);
  const fuzz::MemoryFile file(bytes + used, size - used);
  fuzz::expect_sound([&] {
    io::ReadOptions options{.format = io::TensorFormat::csv};
    options.columns = io::parse_columns(columns, "");
    const auto loaded = io::read_tensor(file.path(), options);
    for (int m = 0; m < loaded.tensor.order(); ++m)
      for (const Index index : loaded.tensor.indices(m))
        if (index < 0 || index >= loaded.tensor.extent(m)) std::abort();
  });
  return 0;
}
