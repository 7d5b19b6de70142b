#include "polyad/io/tensors/read_tensor.hpp"
#include "tests/fuzz/fuzz_file.hpp"

namespace {

// The form that the letters behind a blank of the first line choose.
polyad::io::TableForm form_of(std::string_view letters) {
  polyad::io::TableForm form;
  const auto has = [&](char c) { return letters.find(c) != std::string_view::npos; };
  if (has('n')) form.header = false;
  if (has('h')) form.header = true;
  if (has('b')) form.separator = " ";
  form.decimal_comma = has('d');
  form.multiline = has('m');
  return form;
}

}  // namespace

// The first line chooses the columns, and behind a blank the form of the table; the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace polyad;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto first = text.substr(0, text.find('\n'));
  const auto columns = first.substr(0, first.find(' '));
  const std::size_t used = std::min(first.size() + 1, size);
  const fuzz::MemoryFile file(bytes + used, size - used);
  fuzz::expect_sound([&] {
    io::ReadOptions options{.format = io::TensorFormat::csv};
    options.columns = io::parse_columns(columns, "");
    options.table = form_of(first.substr(columns.size()));
    const auto loaded = io::read_tensor(file.path(), options);
    for (int m = 0; m < loaded.tensor.order(); ++m)
      for (const Index index : loaded.tensor.indices(m))
        if (index < 0 || index >= loaded.tensor.extent(m)) std::abort();
  });
  return 0;
}
