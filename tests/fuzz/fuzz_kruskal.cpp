#include "polyad/io/models/kruskal.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/io/models/rating_archive.hpp"
#include "tests/fuzz/fuzz_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace polyad;
  const fuzz::MemoryFile file(bytes, size);
  fuzz::expect_sound([&] { io::read_kruskal(file.path()); });
  fuzz::expect_sound([&] { io::read_rating_archive<float>(io::InputFile(file.path())); });
  fuzz::expect_sound([&] { io::read_labels(file.path()); });
  return 0;
}
