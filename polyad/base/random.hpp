#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace polyad {

// Philox4x32 with ten rounds (Salmon et al., SC'11): a keyed bijection of 128-bit counters whose
// outputs pass for independent random bits.
using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;
PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key);

// Random numbers as pure functions of (seed, stream, index). There is no state to share or to order, so
// the same numbers come out for any number of threads and processes. Streams of one seed are
// independent; every function below consumes all of its index, so do not use two on the same index.
class Random {
 public:
  constexpr Random(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  std::array<std::uint64_t, 2> bits(std::uint64_t index) const;
  double uniform(std::uint64_t index) const;                            // in [0, 1)
  double normal(std::uint64_t index) const;                             // mean 0, variance 1
  std::pair<double, double> normals(std::uint64_t index) const;         // two of them, independent
  std::uint64_t below(std::uint64_t bound, std::uint64_t index) const;  // in [0, bound), bound > 0

 private:
  std::uint64_t seed_, stream_;
};

// The 53 high bits as a number in [0, 1).
constexpr double unit_interval(std::uint64_t bits) {
  return double(bits >> 11) * 0x1p-53;
}

}  // namespace polyad
