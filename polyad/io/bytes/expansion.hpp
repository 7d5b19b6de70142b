#pragma once

#include "polyad/base/types.hpp"

namespace polyad::io {

// Deflate, which gzip, zip and .ptb use, makes at most 1032 bytes of one: a header that states more is false.
constexpr __int128 max_inflated(__int128 stored_bytes) {
  return 1032 * (stored_bytes + 1);
}

// How long gzip and the members of zip archives may become. Texts of distinct coordinates or names shrink
// about tenfold, so what expands a hundredfold is either made of copies or made to fill the memory. The first
// 64 MiB do no harm.
constexpr __int128 max_expanded(__int128 stored_bytes) {
  return (__int128(1) << 26) + 100 * stored_bytes;
}

}  // namespace polyad::io
