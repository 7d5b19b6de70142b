#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "polyad/base/timings.hpp"
#include "polyad/base/unfinished_paths.hpp"
#include "polyad/tasks/detail/checkpoints/checkpoints.hpp"

namespace polyad::tasks {

// What happens between the iterations of a run: it stops where a signal or the time limit asks for it, and
// writes checkpoints. All processes do so after the same iteration.
template <class Real>
class RunControl {
 public:
  // checkpoints: null for none. seconds_before: what counts towards the limit before this moment.
  RunControl(const Comm& comm, std::vector<int> mode_order, Checkpoints* checkpoints, double time_limit,
             double seconds_before)
      : comm_(comm),
        mode_order_(std::move(mode_order)),
        checkpoints_(checkpoints),
        time_limit_(time_limit),
        seconds_before_(seconds_before) {
    if (checkpoints_ == nullptr) return;
    sequence_ = checkpoints_->last_sequence();
    if (checkpoints_->found()) restart_ = checkpoints_->template restart<Real>();
  }
  RunControl(const RunControl&) = delete;
  RunControl& operator=(const RunControl&) = delete;

  // The state to go on from; null: there is none.
  RunRestart<Real>* from() { return restart_ ? &*restart_ : nullptr; }

  // From the start after all.
  void begin_anew() { restart_.reset(); }
  // Every state that is saved begins with this list of numbers, before those of the algorithm.
  void put_first(std::vector<double> numbers) { first_numbers_ = std::move(numbers); }

  // The iterations begin.
  RunControls<Real> controls() {
    last_pause_ = watch_.seconds();
    const bool is_needed = checkpoints_ != nullptr || time_limit_ > 0 || StoppableWork::is_supported();
    if (!is_needed) return {};
    return {from(), [this](const RunPause<Real>& pause) { return act(pause); }};
  }

 private:
  enum Request { stops, runs_out, saves, num_requests };

  // As the clock of process 0 says, and signals to any.
  std::array<Index, num_requests> requests() {
    std::array<Index, num_requests> asked{};
    asked[stops] = Index(work_.stop_signal() != 0);
    const double now = watch_.seconds();
    longest_ = std::max(longest_, now - last_pause_);
    last_pause_ = now;
    if (comm_.rank() == 0 && time_limit_ > 0)
      asked[runs_out] = Index(seconds_before_ + now + longest_ > time_limit_);
    if (checkpoints_ != nullptr) {
      const double seconds = checkpoints_->options().every_seconds;
      const bool is_due = comm_.rank() == 0 && seconds > 0 && now - last_saved_ >= seconds;
      asked[saves] = Index(take_save_request() || is_due);
    }
    comm_.all_reduce(std::span<Index>(asked), Reduce::max);
    return asked;
  }

  std::optional<StopReason> act(const RunPause<Real>& pause) {
    ++sequence_;
    ++unsaved_;
    const auto asked = requests();
    if (checkpoints_ != nullptr) {
      const int every = checkpoints_->options().every_iterations;
      const bool is_due = every > 0 && unsaved_ >= every;
      if (pause.is_end || is_due || std::ranges::max(asked) > 0) save(pause);
    }
    if (asked[stops] > 0) return StopReason::interrupted;
    if (asked[runs_out] > 0) return StopReason::time_limit;
    return std::nullopt;
  }

  void save(const RunPause<Real>& pause) {
    const auto save_all = [&](RunState<Real>& state) {
      if (first_numbers_) state.numbers.put_list(*first_numbers_);
      pause.save(state);
    };
    checkpoints_->write<Real>({pause.iteration, pause.fit, pause.is_end, save_all}, sequence_, mode_order_);
    last_saved_ = last_pause_ = watch_.seconds();
    unsaved_ = 0;
  }

  Comm comm_;
  std::vector<int> mode_order_;
  Checkpoints* checkpoints_;
  double time_limit_, seconds_before_;
  std::optional<RunRestart<Real>> restart_;
  std::optional<std::vector<double>> first_numbers_;
  StoppableWork work_;
  Stopwatch watch_;
  Index sequence_ = 0;
  int unsaved_ = 0;                                       // iterations since the last checkpoint
  double last_saved_ = 0, last_pause_ = 0, longest_ = 0;  // by the watch; longest iteration
};

}  // namespace polyad::tasks
