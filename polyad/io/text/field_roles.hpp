#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Which field of a line is what, in texts whose lines name things: csv and the MovieLens forms.
struct FieldRoles {
  struct Mode {
    std::string name;
    std::size_t field;
    ColumnKind kind = ColumnKind::label;
  };
  std::vector<Mode> modes;
  std::optional<std::size_t> value;    // empty: every line counts 1
  std::size_t num_fields = 0;          // 0: three or four, as in the MovieLens forms
  const char* example = "the header";  // what shows that number
};

// Throws Error{bad_option} when neither the options nor the file nor, for coordinates of a model, the model
// tell.
FieldRoles field_roles(const InputFile& file, const FileHead& head, const ReadOptions& options);

}  // namespace polyad::io
