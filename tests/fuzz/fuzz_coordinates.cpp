#include "polyad/io/tensors/coordinate_file.hpp"
#include "polyad/io/tensors/rating_list.hpp"
#include "tests/fuzz/fuzz_file.hpp"

// Any text as coordinates of a model, in small and in large slabs, which must agree; all must lie inside the
// model. The first byte chooses the order of the model and what becomes of what it does not have. The same
// text as a list of ratings.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace polyad;
  if (size == 0) return 0;
  const std::vector<ModeLabels> labels{{"who", {"ann", "bob"}}, {}, {"day", {"2014-04-01", "1", "1"}}};
  std::vector<Index> dims{2, 9, 3};
  dims.resize((bytes[0] & 1) != 0 ? 2 : 3);
  using Unknown = io::IndexSpace::Unknown;
  const io::IndexSpace space(dims, labels, (bytes[0] & 2) != 0 ? Unknown::fault : Unknown::leave_out);
  const fuzz::MemoryFile file(bytes + 1, size - 1);
  fuzz::expect_sound([&] {
    const io::CoordinateFile large(file.path(), {.space = &space});
    const io::CoordinateFile small(file.path(), {.space = &space, .slab_bytes = 8});
    Index count = 0;
    small.for_each_batch([&](const io::CoordinateBatch& batch) {
      count += batch.size();
      for (std::size_t m = 0; m < dims.size(); ++m)
        for (const Index index : batch.indices[m])
          if (index < 0 || index >= dims[m]) std::abort();
      if (Index(batch.values.size()) != (small.has_values() ? batch.size() : 0)) std::abort();
    });
    if (count != large.num_coordinates() || small.num_unknown() != large.num_unknown()) std::abort();
  });
  fuzz::expect_sound([&] {
    for (const Index item : io::read_rating_list(file.path(), space).items)
      if (item < 0 || item >= dims[1]) std::abort();
  });
  return 0;
}
