#pragma once

#include "polyad/base/types.hpp"

namespace polyad::io {

// For zlib: the largest window, with the header and the trailer of gzip.
inline constexpr int gzip_window = 15 + 16;

// Deflate (gzip, zip, .ptb) expands a byte to at most 1032 bytes: headers that state more are invalid.
constexpr __int128 max_inflated(__int128 stored_bytes) {
  return 1032 * (stored_bytes + 1);
}

// Maximum length of decompressed gzip files and members of zip archives. Texts of
// distinct coordinates or names shrink about tenfold, so data that expands a hundredfold
// is either repetitive or made to fill the memory. The first 64 MiB are always allowed.
constexpr __int128 max_expanded(__int128 stored_bytes) {
  return (__int128(1) << 26) + 100 * stored_bytes;
}

}  // namespace polyad::io
