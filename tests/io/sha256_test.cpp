#include "polyad/io/bytes/sha256.hpp"

#include <gtest/gtest.h>

namespace polyad::io {
namespace {

std::string sha256_of(std::string_view bytes, std::size_t step) {
  Sha256 sum;
  for (; bytes.size() > step; bytes.remove_prefix(step)) sum.add(bytes.substr(0, step));
  sum.add(bytes);
  return sum.finish();
}

// The examples of NIST for FIPS 180-4.
TEST(Sha256, has_the_published_values) {
  EXPECT_EQ(sha256_of("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc", 9), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 99),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of(std::string(1000000, 'a'), 1009),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, does_not_depend_on_the_parts) {
  std::string bytes;
  for (int size = 0; size < 200; ++size, bytes += char(size * 7))
    for (const std::size_t step : {1, 3, 55, 63, 64, 65, 130})
      EXPECT_EQ(sha256_of(bytes, step), sha256_of(bytes, 1000)) << size << " bytes in parts of " << step;
}

}  // namespace
}  // namespace polyad::io
