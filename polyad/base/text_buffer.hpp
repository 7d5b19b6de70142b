#pragma once

#include "polyad/base/types.hpp"

namespace polyad {

// The most text that io::write_lines holds at a time, whatever the number of threads, in bytes; a line more
// for each thread.
inline constexpr Index max_text_bytes = Index(4) << 20;

}  // namespace polyad
