#include <string>

#include "polyad/io/checkpoints/checkpoint_manifest.hpp"
#include "polyad/io/checkpoints/checkpoint_parts.hpp"
#include "tests/fuzz/fuzz_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace polyad;
  const fuzz::MemoryFile file(bytes, size);
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  fuzz::expect_sound([&] { io::parse_manifest(text, "manifest.json"); });
  fuzz::expect_sound([&] {
    const std::filesystem::path path = file.path();
    io::CheckpointPartReader part(path.parent_path(), {path.filename().string(), Index(size), 0});
    while (part.next()) {
    }
  });
  return 0;
}
