#include "polyad/io/text/label_table.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "polyad/io/bytes/checksum.hpp"

namespace polyad::io {
namespace {

constexpr int number_bits = 40;
constexpr std::uint64_t number_mask = (std::uint64_t(1) << number_bits) - 1;
constexpr std::size_t first_slots = 64, chunk_bytes = std::size_t(1) << 16;

// With a seed that nobody knows, so that no file can have many names with the same hash. Numbers do not
// depend on it.
std::uint64_t label_hash(std::string_view text) {
  static const std::uint64_t seed = [] {
    std::random_device device;
    const std::uint64_t half = device();
    return half << 32 | device();
  }();
  return checksum(text, seed);
}

}  // namespace

// The slot of the text, or the free one where it belongs.
std::size_t LabelTable::place_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t last = slots_.size() - 1;
  for (std::size_t place = hash & last;; place = (place + 1) & last) {
    const Slot slot = slots_[place];
    if (slot == 0) return place;
    if (slot >> number_bits == hash >> number_bits && texts_[(slot & number_mask) - 1] == text) return place;
  }
}

Index LabelTable::find(std::string_view text) const {
  if (slots_.empty()) return -1;
  return Index(slots_[place_of(text, label_hash(text))] & number_mask) - 1;
}

const std::string_view* LabelTable::first_text(std::uint64_t hash) const {
  const Slot slot = slots_[hash & (slots_.size() - 1)];
  return slot == 0 || slot >> number_bits != hash >> number_bits ? nullptr
                                                                 : &texts_[(slot & number_mask) - 1];
}

LabelTable::Hashes LabelTable::fetch(std::span<const std::string_view> texts) const {
  Hashes hashes;
  const std::size_t last = slots_.size() - 1;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    hashes[i] = label_hash(texts[i]);
    __builtin_prefetch(&slots_[hashes[i] & last]);
  }
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (const auto* const known = first_text(hashes[i]); known != nullptr) __builtin_prefetch(known);
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (const auto* const known = first_text(hashes[i]); known != nullptr) __builtin_prefetch(known->data());
  return hashes;
}

void LabelTable::find_or_add(std::span<const std::string_view> texts, std::span<Index> numbers) {
  for (std::size_t begin = 0; begin < texts.size(); begin += batch) {
    const auto some = texts.subspan(begin, std::min(batch, texts.size() - begin));
    if (slots_.empty()) grow();
    const auto hashes = fetch(some);
    for (std::size_t i = 0; i < some.size(); ++i) numbers[begin + i] = find_or_add(some[i], hashes[i]);
  }
}

void LabelTable::find(std::span<const std::string_view> texts, std::span<Index> numbers) const {
  if (slots_.empty()) return void(std::ranges::fill(numbers, -1));
  for (std::size_t begin = 0; begin < texts.size(); begin += batch) {
    const auto some = texts.subspan(begin, std::min(batch, texts.size() - begin));
    const auto hashes = fetch(some);
    for (std::size_t i = 0; i < some.size(); ++i)
      numbers[begin + i] = Index(slots_[place_of(some[i], hashes[i])] & number_mask) - 1;
  }
}

Index LabelTable::find_or_add(std::string_view text) {
  return find_or_add(text, label_hash(text));
}

Index LabelTable::find_or_add(std::string_view text, std::uint64_t hash) {
  if (2 * texts_.size() >= slots_.size()) grow();
  Slot& slot = slots_[place_of(text, hash)];
  if (slot == 0) {
    texts_.push_back(keep(text));
    slot = hash >> number_bits << number_bits | texts_.size();
  }
  return Index(slot & number_mask) - 1;
}

std::string_view LabelTable::keep(std::string_view text) {
  if (text.size() > chunk_left_) {
    chunk_left_ = std::max(chunk_bytes, text.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk_left_));
    chunk_next_ = chunks_.back().get();
  }
  char* const begin = chunk_next_;
  if (!text.empty()) std::memcpy(begin, text.data(), text.size());
  chunk_next_ += text.size();
  chunk_left_ -= text.size();
  return {begin, text.size()};
}

void LabelTable::grow() {
  slots_.assign(std::max(2 * slots_.size(), first_slots), 0);
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const auto hash = label_hash(texts_[i]);
    slots_[place_of(texts_[i], hash)] = hash >> number_bits << number_bits | (i + 1);
  }
}

}  // namespace polyad::io
