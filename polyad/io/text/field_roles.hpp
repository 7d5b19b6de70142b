#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// The meaning of the fields of a line, in texts with names: csv and the MovieLens formats.
struct FieldRoles {
  struct Mode {
    std::string name;
    std::size_t field;
    ColumnRule rule = {};
  };
  std::vector<Mode> modes;
  std::optional<std::size_t> value;     // empty: every line counts 1
  std::size_t num_fields = 0;           // 0: three or four, as in the MovieLens formats
  const char* example = "the header";   // where that number comes from
  bool may_be_of_many_arities = false;  // names without a header: other lines may have other numbers
};

// Throws Error{bad_option} if neither the options nor the file
// nor, for coordinates of a model, the model determine them.
FieldRoles field_roles(const InputFile& file, const FileHead& head, const ReadOptions& options);

}  // namespace polyad::io
