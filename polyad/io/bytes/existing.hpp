#pragma once

namespace polyad {
namespace io {

// What happens to a file or model that already exists under the name of an output: it is replaced, or
// writing the output is an error.
enum class Existing { replaced, refused };

}  // namespace io

using io::Existing;

}  // namespace polyad
