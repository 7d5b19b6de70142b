#pragma once

#include <cstdint>

#include "polyad/base/random.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// The purposes of random numbers in generators. Each has
// streams of its own, so that no number is used twice.
enum class GeneratorStream : std::uint64_t {
  kind,         // by draw: block, corner, diagonal or Zipf; which block, or whether a fiber begins
  coordinates,  // by draw; a stream for two modes, which take a word each
  block_place,
  label,  // keys of the shuffled labels, a stream per mode
  count,
  support,
  factor_value,
  factor_noise,
  user_bias,
  item_bias,
  user_factor,
  item_factor,
  rating_noise,
  held_out
};

// `part` is below 64. The streams are distinct from those of other modules: a
// decomposition with the seed of a planted tensor must not start from its truth.
constexpr Random random_for(std::uint64_t seed, GeneratorStream draw, std::uint64_t part = 0) {
  constexpr std::uint64_t first_stream = std::uint64_t(1) << 40;
  return {seed, first_stream + std::uint64_t(draw) * 64 + part};
}

// Random bits as a number in [0, bound); the bias is below bound / 2^64.
constexpr Index index_below(Index bound, std::uint64_t bits) {
  return Index((static_cast<unsigned __int128>(bits) * std::uint64_t(bound)) >> 64);
}

}  // namespace polyad
