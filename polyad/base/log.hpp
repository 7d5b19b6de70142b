#pragma once

#include <cstdio>
#include <string_view>

namespace polyad {

// Writes a text for people, such as progress, a summary or a warning, and flushes it. A failure (a full disk,
// a closed terminal or pipe) does not stop the computation; it remains visible as std::ferror(out).
void write_log(std::FILE* out, std::string_view text) noexcept;

}  // namespace polyad
