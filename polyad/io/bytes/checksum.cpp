#include "polyad/io/bytes/checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace polyad::io {
namespace {

// Little-endian, as XXH64 reads.
template <class Word>
Word word_at(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big)
    word = sizeof word == 8 ? Word(__builtin_bswap64(word)) : Word(__builtin_bswap32(std::uint32_t(word)));
  return word;
}

namespace xxh64 {

constexpr std::uint64_t prime_1 = 0x9E3779B185EBCA87, prime_2 = 0xC2B2AE3D27D4EB4F,
                        prime_3 = 0x165667B19E3779F9, prime_4 = 0x85EBCA77C2B2AE63,
                        prime_5 = 0x27D4EB2F165667C5;
constexpr std::size_t lanes = 4, stripe = lanes * sizeof(std::uint64_t);

std::uint64_t round(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * prime_2, 31) * prime_1;
}

// Consumes whole stripes of `bytes`, of which there is one at least.
std::uint64_t consume_stripes(std::string_view& bytes, std::uint64_t seed) {
  std::array<std::uint64_t, lanes> lane{seed + prime_1 + prime_2, seed + prime_2, seed, seed - prime_1};
  for (; bytes.size() >= stripe; bytes.remove_prefix(stripe))
    for (std::size_t i = 0; i < lanes; ++i)
      lane[i] = round(lane[i], word_at<std::uint64_t>(bytes.data() + i * sizeof(std::uint64_t)));
  std::uint64_t sum =
      std::rotl(lane[0], 1) + std::rotl(lane[1], 7) + std::rotl(lane[2], 12) + std::rotl(lane[3], 18);
  for (const std::uint64_t one : lane) sum = (sum ^ round(0, one)) * prime_1 + prime_4;
  return sum;
}

// The last bytes, fewer than a stripe.
std::uint64_t consume_rest(std::string_view bytes, std::uint64_t sum) {
  for (; bytes.size() >= 8; bytes.remove_prefix(8))
    sum = std::rotl(sum ^ round(0, word_at<std::uint64_t>(bytes.data())), 27) * prime_1 + prime_4;
  if (bytes.size() >= 4) {
    sum = std::rotl(sum ^ (word_at<std::uint32_t>(bytes.data()) * prime_1), 23) * prime_2 + prime_3;
    bytes.remove_prefix(4);
  }
  for (const char byte : bytes) sum = std::rotl(sum ^ (std::uint8_t(byte) * prime_5), 11) * prime_1;
  return sum;
}

std::uint64_t avalanche(std::uint64_t sum) {
  sum = (sum ^ (sum >> 33)) * prime_2;
  sum = (sum ^ (sum >> 29)) * prime_3;
  return sum ^ (sum >> 32);
}

}  // namespace xxh64

namespace version_1 {

constexpr std::uint64_t odd = 0x9E3779B97F4A7C15, mixer = 0xBF58476D1CE4E5B9;
constexpr std::size_t lanes = 8, block = lanes * sizeof(std::uint64_t);

std::uint64_t stirred(std::uint64_t state, std::uint64_t word) {
  return std::rotl((state ^ word) * odd, 29);
}

}  // namespace version_1
}  // namespace

std::uint64_t checksum(std::string_view bytes, std::uint64_t seed) {
  const auto size = std::uint64_t(bytes.size());
  const std::uint64_t sum =
      size >= xxh64::stripe ? xxh64::consume_stripes(bytes, seed) : seed + xxh64::prime_5;
  return xxh64::avalanche(xxh64::consume_rest(bytes, sum + size));
}

std::uint64_t checksum_version_1(std::string_view bytes) {
  using namespace version_1;
  std::array<std::uint64_t, lanes> state{};
  for (std::size_t lane = 0; lane < lanes; ++lane) state[lane] = mixer * (lane + 1);
  const std::size_t size = bytes.size();
  for (; bytes.size() >= block; bytes.remove_prefix(block))
    for (std::size_t lane = 0; lane < lanes; ++lane)
      state[lane] = stirred(state[lane], word_at<std::uint64_t>(bytes.data() + lane * sizeof(std::uint64_t)));
  std::array<char, block> rest{};  // the last, incomplete block, padded; the checksum includes the size
  bytes.copy(rest.data(), bytes.size());
  std::uint64_t sum = size * mixer;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    state[lane] = stirred(state[lane], word_at<std::uint64_t>(rest.data() + lane * sizeof(std::uint64_t)));
    sum = stirred(sum, state[lane]);
  }
  sum = (sum ^ (sum >> 30)) * mixer;
  return sum ^ (sum >> 31);
}

bool has_checksum([[maybe_unused]] std::string_view bytes, [[maybe_unused]] std::uint64_t stored,
                  [[maybe_unused]] ChecksumVersion version) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return true;  // so that a fuzzer gets past the door
#else
  return stored == (version == ChecksumVersion::xxh64 ? checksum(bytes) : checksum_version_1(bytes));
#endif
}

}  // namespace polyad::io
