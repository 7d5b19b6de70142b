#include "polyad/io/bytes/checksum.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace polyad::io {
namespace {

constexpr std::uint64_t prime32 = 2654435761, prime64 = 11400714785074694797U;

// The bytes that xxHash's own sanity check takes (cli/xsum_sanity_check.c of xxHash).
std::string sanity_bytes(std::size_t size) {
  std::string bytes;
  for (std::uint64_t next = prime32; bytes.size() < size; next *= prime64) bytes += char(next >> 56);
  return bytes;
}

TEST(Checksum, has_the_published_values_of_xxh64) {
  struct Published {
    std::size_t size;
    std::uint64_t seed, value;
  };
  for (const auto& [size, seed, value] : {Published{0, 0, 0xEF46DB3751D8E999},
                                          {0, prime32, 0xAC75FDA2929B17EF},
                                          {1, 0, 0xE934A84ADB052768},
                                          {1, prime32, 0x5014607643A9B4C3},
                                          {4, 0, 0x9136A0DCA57457EE},
                                          {14, 0, 0x8282DCC4994E35C8},
                                          {14, prime32, 0xC3BD6BF63DEB6DF0},
                                          {222, 0, 0xB641AE8CB691C174},
                                          {222, prime32, 0x20CB8AB7AE10C14A}})
    EXPECT_EQ(checksum(sanity_bytes(size), seed), value) << size << " bytes, seed " << seed;
  EXPECT_EQ(checksum("a"), 0xD24EC4F1A98C6E5B);
  EXPECT_EQ(checksum("abc"), 0x44BC2CF5AD770999);
  EXPECT_EQ(checksum("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1);
}

TEST(Checksum, sees_every_bit_and_every_length) {
  for (std::size_t size = 0; size < 100; ++size) {
    std::string bytes = sanity_bytes(size);
    std::set<std::uint64_t> sums{checksum(bytes), checksum(bytes + '\0')};
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << (bit % 8)));
      sums.insert(checksum(bytes));
      bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << (bit % 8)));
    }
    EXPECT_EQ(sums.size(), 8 * size + 2);
  }
}

TEST(Checksum, does_not_depend_on_where_the_bytes_begin) {
  const std::string bytes = sanity_bytes(200);
  for (std::size_t shift = 1; shift < 16; ++shift) {
    const std::string shifted = std::string(shift, 'x') + bytes;
    EXPECT_EQ(checksum(std::string_view(shifted).substr(shift)), checksum(bytes));
  }
}

TEST(Checksum, that_of_version_1_is_what_it_was) {
  EXPECT_EQ(checksum_version_1(""), 0xD16AFF56FB026985);
  EXPECT_EQ(checksum_version_1("abc"), 0x62278DB914D068DE);
  EXPECT_EQ(checksum_version_1(sanity_bytes(222)), 0x84E7E9DDD81801EE);
}

}  // namespace
}  // namespace polyad::io
