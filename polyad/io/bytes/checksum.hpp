#pragma once

#include <cstdint>
#include <string_view>

namespace polyad::io {

// 64-bit checksum of stored bytes: XXH64 by Yann Collet (xxHash
// fast digest algorithm, specification 0.1.1). Not cryptographic.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0);

// The checksum of earlier files: version 1 of .ptb and of cached partitions, defined in docs/formats.md.
std::uint64_t checksum_version_1(std::string_view bytes);

enum class ChecksumVersion { version_1, xxh64 };

// Whether bytes have the stored checksum.
bool has_checksum(std::string_view bytes, std::uint64_t stored, ChecksumVersion version);

}  // namespace polyad::io
