#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::io {

// Numbers distinct texts from 0 in the order in which they come. Nothing is removed. Faster than
// std::unordered_map, because a search compares parts of hashes in one array, and texts only where these
// agree.
class LabelTable {
 public:
  LabelTable() = default;
  LabelTable(const LabelTable&) = delete;
  LabelTable& operator=(const LabelTable&) = delete;
  LabelTable(LabelTable&&) = default;
  LabelTable& operator=(LabelTable&&) = default;
  ~LabelTable() = default;

  // The number of a text, which is new if it was not there.
  Index find_or_add(std::string_view text);
  // The number of a text; -1: it is not there.
  Index find(std::string_view text) const;
  // The same for several texts, in their order: faster for tables that are larger than a cache, as what is
  // looked at is fetched for many texts at a time. numbers[i] is that of texts[i].
  void find_or_add(std::span<const std::string_view> texts, std::span<Index> numbers);
  void find(std::span<const std::string_view> texts, std::span<Index> numbers) const;

  Index size() const { return Index(texts_.size()); }
  // In the order of their numbers; valid as long as the table.
  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  // A number plus 1 in the low bits, and the highest bits of the hash in the others; 0: free.
  using Slot = std::uint64_t;

  static constexpr std::size_t batch = 32;
  using Hashes = std::array<std::uint64_t, batch>;

  // The hashes of at most so many texts, the places of which come into the cache meanwhile.
  Hashes fetch(std::span<const std::string_view> texts) const;
  Index find_or_add(std::string_view text, std::uint64_t hash);
  // The text that the first place of a hash has; null: it is free, or has a text with another hash.
  const std::string_view* first_text(std::uint64_t hash) const;
  std::size_t place_of(std::string_view text, std::uint64_t hash) const;
  std::string_view keep(std::string_view text);
  void grow();

  std::vector<Slot> slots_;  // a power of two of them, at most half of which are taken
  std::vector<std::string_view> texts_;
  std::vector<std::unique_ptr<char[]>> chunks_;  // what texts_ refers to
  std::size_t chunk_left_ = 0;
  char* chunk_next_ = nullptr;
};

}  // namespace polyad::io
