#pragma once
// Private to the selection of items.

#include <algorithm>
#include <cmath>
#include <limits>

#include "polyad/kernels/ratings/top_items.hpp"

namespace polyad::kernels {

// The best of many scored items. Items are offered in ascending order; of equal scores the first are kept.
template <class Real>
class BestItems {
 public:
  explicit BestItems(Index count) : count_(count) {}

  // Whether a score may be among the best, or is NaN.
  bool is_worth_offering(Real score) const { return !(score <= threshold_); }
  void offer(Index item, Real score) {
    if (count_ == 0 || !is_worth_offering(score)) return;
    if (!std::isfinite(score)) {
      all_finite_ = false;
      return;
    }
    if (Index(heap_.size()) == count_) {
      std::ranges::pop_heap(heap_, is_better);
      heap_.pop_back();
    }
    heap_.push_back({item, score});
    std::ranges::push_heap(heap_, is_better);
    if (Index(heap_.size()) == count_) threshold_ = heap_.front().score;
  }
  bool all_finite() const { return all_finite_; }

  // The items in order, with `offset` added to the scores.
  ScoredItems take(double offset) {
    std::ranges::sort(heap_, is_better);
    ScoredItems items;
    items.reserve(heap_.size());
    for (const auto& [item, score] : heap_) items.push_back({item, offset + double(score)});
    return items;
  }

 private:
  struct Entry {
    Index item;
    Real score;
  };
  static bool is_better(const Entry& a, const Entry& b) {
    return a.score != b.score ? a.score > b.score : a.item < b.item;
  }

  Index count_;
  Real threshold_ = std::numeric_limits<Real>::quiet_NaN();  // NaN accepts all, until there are enough
  bool all_finite_ = true;
  std::vector<Entry> heap_;  // its front is the worst that is kept
};

}  // namespace polyad::kernels
