#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// Assigns squares of ratings to threads in the order of rounds. A square waits only for the two squares
// of the round before that have its users and its items, so that there is no barrier between rounds.
class BlockScheduler {
 public:
  struct Square {
    Index round, user_band;
  };
  // num_bands must be a power of two.
  explicit BlockScheduler(Index num_bands)
      : n_(num_bands), users_(std::size_t(n_)), items_(std::size_t(n_)) {}

  // The next square, as soon as it may be processed. The squares that it
  // waits for were taken before, so other threads are working on them.
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
  using Rounds = std::atomic<Index>;  // number of rounds that a band has completed
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
