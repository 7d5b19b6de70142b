#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// Squares in the order of the rounds, for threads to take. A square waits for those two of the round before
// that had its users and its items, and for no other: threads need not wait for each other after each round.
class BlockScheduler {
 public:
  struct Square {
    Index round, user_band;
  };
  // A power of two.
  explicit BlockScheduler(Index num_bands)
      : n_(num_bands), users_(std::size_t(n_)), items_(std::size_t(n_)) {}

  // The next, once it may be learned from. Those that it waits for were taken before it, so somebody is at
  // work on them.
  std::optional<Square> take() {
    const Index turn = next_.fetch_add(1, std::memory_order_relaxed);
    if (turn >= n_ * n_) return std::nullopt;
    const Square square{turn / n_, turn % n_};
    wait_for(users_[std::size_t(square.user_band)], square.round);
    wait_for(items_[item_band(square)], square.round);
    return square;
  }
  void finish(const Square& square) {
    for (auto* rounds : {&users_[std::size_t(square.user_band)], &items_[item_band(square)]}) {
      rounds->store(square.round + 1, std::memory_order_release);
      rounds->notify_all();
    }
  }

 private:
  using Rounds = std::atomic<Index>;  // that a band has behind it
  static std::size_t item_band(const Square& square) { return std::size_t(square.round ^ square.user_band); }
  static void wait_for(const Rounds& rounds, Index round) {
    for (Index done = rounds.load(std::memory_order_acquire); done != round;
         done = rounds.load(std::memory_order_acquire))
      rounds.wait(done, std::memory_order_acquire);
  }

  Index n_;
  std::vector<Rounds> users_, items_;
  std::atomic<Index> next_ = 0;
};

}  // namespace polyad::kernels
