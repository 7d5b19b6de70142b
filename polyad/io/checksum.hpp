#pragma once

#include <cstdint>
#include <string_view>

namespace polyad::io {

// A 64-bit checksum against accidents, not against intent: eight independent multiply-and-rotate lanes,
// so that it runs at the speed of memory. Its values are part of the .ptb format.
std::uint64_t checksum(std::string_view bytes);

// Whether bytes read back have the checksum that was stored for them.
bool has_checksum(std::string_view bytes, std::uint64_t stored);

}  // namespace polyad::io
