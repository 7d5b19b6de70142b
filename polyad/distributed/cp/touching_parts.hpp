#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace polyad {

// Collects the parts that touch a row, without duplicates and in ascending order.
class TouchingParts {
 public:
  explicit TouchingParts(int num_parts) : bits_(std::size_t(num_parts + 63) / 64, 0) {}

  void add(int part) {
    const auto bit = std::uint64_t(1) << (part % 64);
    if (std::exchange(bits_[part / 64], bits_[part / 64] | bit) & bit) return;
    parts_.push_back(part);
  }

  // Appends them to `all`, and clears the set.
  void move_to(std::vector<int>& all) {
    if (parts_.size() < bits_.size()) {
      std::ranges::sort(parts_);
      all.insert(all.end(), parts_.begin(), parts_.end());
      for (const int part : parts_) bits_[part / 64] = 0;
    } else {
      for (std::size_t i = 0; i < bits_.size(); ++i)
        for (auto rest = std::exchange(bits_[i], 0); rest != 0; rest &= rest - 1)
          all.push_back(int(64 * i) + std::countr_zero(rest));
    }
    parts_.clear();
  }

 private:
  std::vector<std::uint64_t> bits_;  // [part]
  std::vector<int> parts_;
};

}  // namespace polyad
