#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "polyad/io/tensors/binary/array_tensor.hpp"
#include "polyad/io/tensors/slab.hpp"
#include "polyad/io/text/table_sample.hpp"

namespace polyad::tasks {

// What the beginning of a file shows.
struct SeenFile {
  std::string format;                              // its name; empty if it was not recognised
  std::optional<io::FileHead> head;                // nothing: why not is the fault
  std::string fault;                               // why the file is not read as it is; empty: it is
  io::TableSample sample;                          // of a text
  bool is_adjacency = false;                       // lines of different lengths, each a row and its columns
  std::size_t fewest_fields = 0, most_fields = 0;  // of lines of different lengths; 0: they have the same

  // Of lines of columns; empty for other files. The names are those of the header, or numbers.
  std::vector<io::ColumnLook> looks;
  std::vector<std::string> names;
  std::size_t first_row = 0;  // of data in the sample

  // How it was read: as it was asked for, and what else it takes.
  io::TableForm form;
  bool needs_multiline = false, needs_decimal_comma = false, needs_fields = false;

  std::vector<io::StoredArray> arrays;  // of a file of arrays
};

// Looks at a file, and reads it with the options that its lines call for: quoted line breaks, decimal commas,
// and lines of one length of several. What load would refuse it for is the fault. Throws Error{io}.
SeenFile see_file(const std::filesystem::path& path, const io::ReadOptions& read);

}  // namespace polyad::tasks
