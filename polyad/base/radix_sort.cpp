#include "polyad/base/radix_sort.hpp"

#include <algorithm>
#include <vector>

#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

constexpr int max_digit_bits = 11;  // 2048 open write streams still fit the second-level cache

class DigitPass {
 public:
  DigitPass(int shift, int bits)
      : shift_(shift), num_digits_(std::size_t(1) << bits), offsets_(num_threads()) {}

  // Counts the digits of each thread's part and turns the counts into places to write to, ordered by
  // digit, then by thread. False when all items share one digit: nothing to do.
  bool plan(const Array<KeyedPosition>& items) {
    for (auto& counts : offsets_) counts.assign(num_digits_, 0);
    parallel_parts(Index(items.size()), [&](Index begin, Index end, int thread) {
      auto& counts = offsets_[thread];
      for (Index i = begin; i < end; ++i) ++counts[digit(items[i])];
    });
    Index next = 0;
    bool useful = true;
    for (std::size_t d = 0; d < num_digits_; ++d) {
      const Index first = next;
      for (auto& counts : offsets_) next += std::exchange(counts[d], next);
      if (next - first == Index(items.size())) useful = false;
    }
    return useful;
  }

  void scatter(const Array<KeyedPosition>& from, Array<KeyedPosition>& to) {
    parallel_parts(Index(from.size()), [&](Index begin, Index end, int thread) {
      auto& place = offsets_[thread];
      for (Index i = begin; i < end; ++i) {
        const auto& item = from[i];
        to[place[digit(item)]++] = item;
      }
    });
  }

 private:
  std::size_t digit(const KeyedPosition& item) const { return (item.key >> shift_) & (num_digits_ - 1); }

  int shift_;
  std::size_t num_digits_;
  std::vector<std::vector<Index>> offsets_;  // [thread][digit]
};

}  // namespace

void radix_sort(Array<KeyedPosition>& items, int key_bits) {
  const int passes = (key_bits + max_digit_bits - 1) / max_digit_bits;
  if (items.size() < 2 || passes == 0) return;
  const int digit_bits = (key_bits + passes - 1) / passes;
  Array<KeyedPosition> other(items.size());
  for (int shift = 0; shift < key_bits; shift += digit_bits) {
    DigitPass pass(shift, std::min(digit_bits, key_bits - shift));
    if (!pass.plan(items)) continue;
    pass.scatter(items, other);
    items.swap(other);
  }
}

}  // namespace polyad
