#include "polyad/base/random.hpp"

#include <cmath>
#include <numbers>

namespace polyad {
namespace {

constexpr std::uint32_t low(std::uint64_t x) {
  return std::uint32_t(x);
}
constexpr std::uint32_t high(std::uint64_t x) {
  return std::uint32_t(x >> 32);
}

}  // namespace

PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = multiplier0 * counter[0], p1 = multiplier1 * counter[2];
    counter = {high(p1) ^ counter[1] ^ key[0], low(p1), high(p0) ^ counter[3] ^ key[1], low(p0)};
    key = {key[0] + weyl0, key[1] + weyl1};
  }
  return counter;
}

std::array<std::uint64_t, 2> Random::bits(std::uint64_t index) const {
  const auto b =
      philox4x32({low(index), high(index), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
  return {std::uint64_t(b[1]) << 32 | b[0], std::uint64_t(b[3]) << 32 | b[2]};
}

double Random::uniform(std::uint64_t index) const {
  return unit_interval(bits(index)[0]);
}

std::pair<double, double> Random::normals(std::uint64_t index) const {
  const auto [a, b] = bits(index);
  const double u = 1.0 - unit_interval(a);  // in (0, 1], so that the logarithm is finite
  const double radius = std::sqrt(-2.0 * std::log(u)), angle = 2.0 * std::numbers::pi * unit_interval(b);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

double Random::normal(std::uint64_t index) const {
  return normals(index).first;
}

std::uint64_t Random::below(std::uint64_t bound, std::uint64_t index) const {
  // High word of a 128-bit product: the bias is below bound / 2^64.
  return std::uint64_t((static_cast<unsigned __int128>(bits(index)[0]) * bound) >> 64);
}

}  // namespace polyad
