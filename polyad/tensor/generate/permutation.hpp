#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "polyad/tensor/generate/streams.hpp"

namespace polyad {

// A pseudo-random bijection of [0, n), without a table. A Feistel
// network on pairs (x mod a, x / a) with a near the square root of n
// (Black and Rogaway 2002); the few images outside [0, n) are mapped
// again until they are inside. n is at most max_generated_dim.
class RandomPermutation {
 public:
  // The keys are keys_drawn numbers of `random`, starting with number `first`.
  static constexpr std::uint64_t keys_drawn = 3;
  RandomPermutation(Index n, const Random& random, std::uint64_t first = 0)
      : n_(n), a_(Index(std::sqrt(double(n)))) {
    while (a_ * a_ < n) ++a_;
    b_ = n / a_ + (n % a_ != 0);
    for (std::uint64_t k = 0; k < keys_drawn; ++k) keys_[k] = random.bits(first + k);
  }

  Index operator()(Index x) const {
    do x = shuffled(x);
    while (x >= n_);
    return x;
  }

 private:
  // A bijection of [0, a * b).
  Index shuffled(Index x) const {
    Index high = x / a_, low = x - high * a_;
    for (const auto& [low_key, high_key] : keys_) {
      low = wrapped(low + mixed(high, low_key, a_), a_);
      high = wrapped(high + mixed(low, high_key, b_), b_);
    }
    return high * a_ + low;
  }

  static Index wrapped(Index x, Index bound) { return x < bound ? x : x - bound; }

  static Index mixed(Index x, std::uint64_t key, Index bound) {
    std::uint64_t h = (std::uint64_t(x) + key) * 0x9E3779B97F4A7C15U;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93U;
    return index_below(bound, h);
  }

  Index n_, a_, b_;
  std::array<std::array<std::uint64_t, 2>, keys_drawn> keys_;
};

}  // namespace polyad
