#include "polyad/io/checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace polyad::io {
namespace {

constexpr std::uint64_t odd = 0x9E3779B97F4A7C15, mixer = 0xBF58476D1CE4E5B9;
constexpr std::size_t lanes = 8, block = lanes * sizeof(std::uint64_t);

std::uint64_t word_at(const char* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

std::uint64_t stirred(std::uint64_t state, std::uint64_t word) {
  return std::rotl((state ^ word) * odd, 29);
}

}  // namespace

std::uint64_t checksum(std::string_view bytes) {
  std::array<std::uint64_t, lanes> state{};
  for (std::size_t lane = 0; lane < lanes; ++lane) state[lane] = mixer * (lane + 1);
  const std::size_t size = bytes.size();
  for (; bytes.size() >= block; bytes.remove_prefix(block))
    for (std::size_t lane = 0; lane < lanes; ++lane)
      state[lane] = stirred(state[lane], word_at(bytes.data() + lane * sizeof(std::uint64_t)));
  std::array<char, block> rest{};  // the last, incomplete block, filled with zeros; the size tells how many
  bytes.copy(rest.data(), bytes.size());
  std::uint64_t sum = size * mixer;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    state[lane] = stirred(state[lane], word_at(rest.data() + lane * sizeof(std::uint64_t)));
    sum = stirred(sum, state[lane]);
  }
  sum = (sum ^ (sum >> 30)) * mixer;
  return sum ^ (sum >> 31);
}

bool has_checksum([[maybe_unused]] std::string_view bytes, [[maybe_unused]] std::uint64_t stored) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return true;  // so that a fuzzer gets past the door
#else
  return checksum(bytes) == stored;
#endif
}

}  // namespace polyad::io
