#include "polyad/io/bytes/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace polyad::io {
namespace {

constexpr std::size_t sha256_block = 64;

constexpr std::array<std::uint32_t, 64> sha256_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian_word(const char* bytes) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | std::uint8_t(bytes[i]);
  return word;
}

// The message schedule, W of section 6.2.2.
std::array<std::uint32_t, 64> sha256_schedule(const char* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t t = 0; t < 16; ++t) words[t] = big_endian_word(block + 4 * t);
  for (std::size_t t = 16; t < words.size(); ++t) {
    const std::uint32_t a = words[t - 15], b = words[t - 2];
    words[t] = words[t - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[t - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  return words;
}

}  // namespace

void Sha256::add_block(const char* block) {
  const auto words = sha256_schedule(block);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t t = 0; t < words.size(); ++t) {
    const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                              ((e & f) ^ (~e & g)) + sha256_constants[t] + words[t];
    const std::uint32_t two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + one;
    d = c;
    c = b;
    b = a;
    a = one + two;
  }
  const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < added.size(); ++i) state_[i] += added[i];
}

void Sha256::add(std::string_view bytes) {
  num_bytes_ += bytes.size();
  if (!rest_.empty()) {
    const auto taken = std::min(sha256_block - rest_.size(), bytes.size());
    rest_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (rest_.size() < sha256_block) return;
    add_block(rest_.data());
    rest_.clear();
  }
  for (; bytes.size() >= sha256_block; bytes.remove_prefix(sha256_block)) add_block(bytes.data());
  rest_ = bytes;
}

std::string Sha256::finish() {
  const std::uint64_t num_bits = 8 * num_bytes_;
  std::string padding("\x80");
  padding.append((2 * sha256_block - 1 - 8 - rest_.size()) % sha256_block, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) padding += char(num_bits >> shift & 0xFF);
  add(padding);
  std::string digits;
  for (const auto word : state_) digits += fmt::format("{:08x}", word);
  return digits;
}

}  // namespace polyad::io
