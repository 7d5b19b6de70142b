#pragma once

#include <string>
#include <string_view>

namespace polyad::io {

// Describes a file that is not a tensor, by its first bytes, and what to do with it: "is a PNG
// image, not a tensor". Empty if they are not recognised. Reads at most the first 512 bytes.
std::string foreign_kind(std::string_view begin);

// Whether a file begins like a zip archive of NumPy arrays.
bool begins_like_npz(std::string_view begin);

}  // namespace polyad::io
