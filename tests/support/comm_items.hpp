#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad::test {

// Rank r's i-th item in the round `seed`: every rank can say what every other contributes.
template <class T>
T item(std::uint64_t seed, int r, Index i) {
  const auto bits = Random(seed, std::uint64_t(r)).bits(std::uint64_t(i));
  return T(std::int64_t(bits[0] % 2001) - 1000);  // small whole numbers: sums are exact in every type
}

struct Triple {
  std::array<char, 3> letters;
  friend bool operator==(const Triple&, const Triple&) = default;
};
template <>
inline Triple item<Triple>(std::uint64_t seed, int r, Index i) {
  const auto bits = Random(seed, std::uint64_t(r)).bits(std::uint64_t(i));
  return {{char(bits[0]), char(bits[0] >> 8), char(bits[1])}};
}

struct Entry {
  Index row;
  double value;
  friend bool operator==(const Entry&, const Entry&) = default;
};
template <>
inline Entry item<Entry>(std::uint64_t seed, int r, Index i) {
  return {Index(seed) * 1000 + r, item<double>(seed, r, i)};
}

template <class T>
std::vector<T> items(std::uint64_t seed, int r, Index count) {
  std::vector<T> result;
  for (Index i = 0; i < count; ++i) result.push_back(item<T>(seed, r, i));
  return result;
}

// How many items rank `from` has for rank `to`: often none.
inline Index count_for(std::uint64_t seed, int from, int to) {
  const Random random(seed, 1000 + std::uint64_t(from));
  const auto wish = std::int64_t(random.below(30, std::uint64_t(to)));
  return std::max<Index>(0, wish - 12);
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}

inline const std::vector<Index> limits{1, 3, 7, Comm::default_message_limit};

// The world under message limits that make it split messages.
inline std::vector<Comm> worlds() {
  std::vector<Comm> result;
  result.reserve(limits.size());
  for (const Index limit : limits) result.push_back(Comm::world().with_message_limit(limit));
  return result;
}

using ItemTypes = testing::Types<char, Triple, std::int32_t, float, Index, double, Entry>;

}  // namespace polyad::test
