#pragma once

#include <string>
#include <string_view>

namespace polyad::io {

// What a file is that Polyad does not read as a tensor, and what to do with it, by its first bytes: "is a PNG
// image, not a tensor". Empty when they are of no such kind. Reads at most the first 512 bytes.
std::string foreign_kind(std::string_view begin);

}  // namespace polyad::io
