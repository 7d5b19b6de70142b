#pragma once

#include <filesystem>
#include <string>

namespace polyad::io {

// " (did you mean data/ratings.tns?)": of a path that does not exist, one beside it that is probably meant:
// its name has the same ending and, but for few letters, the same letters, or only another ending more.
// Empty: there is none.
std::string near_name(const std::filesystem::path& path);

}  // namespace polyad::io
