#include "polyad/io/hypergraphs/hmetis_file.hpp"
#include "polyad/io/hypergraphs/partition_file.hpp"
#include "tests/fuzz/fuzz_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace polyad;
  const fuzz::MemoryFile file(bytes, size);
  fuzz::expect_sound([&] { io::read_hypergraph(file.path()); });
  fuzz::expect_sound([&] { io::read_partition(file.path(), io::up_to(100, 7)); });
  return 0;
}
