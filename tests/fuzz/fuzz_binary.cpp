#include "polyad/io/tensors/read_tensor.hpp"
#include "tests/fuzz/fuzz_file.hpp"

// Bytes that begin like one of the binaries (the first byte chooses which).
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace polyad;
  if (size == 0) return 0;
  constexpr std::string_view heads[] = {{"\x93PTB\r\n\x1a\n\x04\x03\x02\x01\x01\0\0\0", 16},
                                        {"sptn", 4},
                                        {"\0\0\0\0\x08\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0", 20}};
  std::string file_bytes(heads[bytes[0] % 3]);
  file_bytes.append(reinterpret_cast<const char*>(bytes + 1), size - 1);
  const fuzz::MemoryFile file(reinterpret_cast<const std::uint8_t*>(file_bytes.data()), file_bytes.size());
  fuzz::expect_sound([&] {
    const auto loaded = io::read_tensor(file.path());
    for (int m = 0; m < loaded.tensor.order(); ++m)
      for (const Index index : loaded.tensor.indices(m))
        if (index < 0 || index >= loaded.tensor.extent(m)) std::abort();
  });
  return 0;
}
