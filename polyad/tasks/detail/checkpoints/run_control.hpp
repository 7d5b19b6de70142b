#pragma once

#include <algorithm>
#include <optional>
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
      : is_first_(comm.rank() == 0),
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

  // The iterations begin. From now on a signal does not end the program but the run, after an iteration.
  RunControls<Real> controls() {
    work_.emplace();
    return with([this](const RunPause<Real>& pause) { return act(pause); }, from());
  }

  // For iterations before these, of which no state is kept: what asks the run to stop asks them.
  RunControls<Real> controls_before() {
    return with([this](const RunPause<Real>& pause) {
      note_pause();
      return reason_to_stop(pause.asked);
    });
  }

 private:
  template <class Act>
  RunControls<Real> with(Act act_at_pause, RunRestart<Real>* restart = nullptr) {
    last_pause_ = watch_.seconds();
    longest_ = last_length_ = 0;
    const bool is_needed = checkpoints_ != nullptr || time_limit_ > 0 || StoppableWork::is_supported();
    if (!is_needed) return {};
    return {restart, std::move(act_at_pause), [this] { return ask(); }};
  }

  // As the clock of process 0 says, and signals to any. The iteration under way is nearly over; it is taken
  // to be as long as the one before it, at least.
  RunRequests ask() {
    RunRequests asked;
    asked.stops = StoppableWork::stop_signal() != 0 ? 1 : 0;
    const double now = watch_.seconds(), so_far = now - last_pause_;
    const double end = last_pause_ + std::max(last_length_, so_far);
    if (is_first_ && time_limit_ > 0)
      asked.runs_out = seconds_before_ + end + std::max(longest_, so_far) > time_limit_ ? 1 : 0;
    if (checkpoints_ != nullptr) {
      const double seconds = checkpoints_->options().every_seconds;
      wants_save_ = take_save_request() || wants_save_;
      asked.saves = wants_save_ || (is_first_ && seconds > 0 && now - last_saved_ >= seconds) ? 1 : 0;
    }
    return asked;
  }

  static std::optional<StopReason> reason_to_stop(const RunRequests& asked) {
    if (asked.stops > 0) return StopReason::interrupted;
    if (asked.runs_out > 0) return StopReason::time_limit;
    return std::nullopt;
  }

  void note_pause() {
    const double now = watch_.seconds(), length = now - last_pause_;
    if (longest_ > 0) last_length_ = length;  // the first contains preparations
    longest_ = std::max(longest_, length);
    last_pause_ = now;
  }

  std::optional<StopReason> act(const RunPause<Real>& pause) {
    ++sequence_;
    ++unsaved_;
    note_pause();
    const auto reason = reason_to_stop(pause.asked);
    if (checkpoints_ != nullptr) {
      const int every = checkpoints_->options().every_iterations;
      const bool is_due = every > 0 && unsaved_ >= every;
      if (pause.is_end || is_due || reason || pause.asked.saves > 0) save(pause);
    }
    return reason;
  }

  void save(const RunPause<Real>& pause) {
    const auto save_all = [&](RunState<Real>& state) {
      if (first_numbers_) state.numbers.put_list(*first_numbers_);
      pause.save(state);
    };
    checkpoints_->write<Real>({pause.iteration, pause.fit, pause.is_end, save_all}, sequence_, mode_order_);
    last_saved_ = last_pause_ = watch_.seconds();
    unsaved_ = 0;
    wants_save_ = false;
  }

  bool is_first_;  // of the processes: its clock counts
  std::vector<int> mode_order_;
  Checkpoints* checkpoints_;
  double time_limit_, seconds_before_;
  std::optional<RunRestart<Real>> restart_;
  std::optional<std::vector<double>> first_numbers_;
  std::optional<StoppableWork> work_;  // since the iterations began
  Stopwatch watch_;
  Index sequence_ = 0;
  int unsaved_ = 0;                         // iterations since the last checkpoint
  bool wants_save_ = false;                 // a signal to this process asks for one
  double last_saved_ = 0, last_pause_ = 0;  // by the watch
  double longest_ = 0, last_length_ = 0;    // of iterations; 0: there was none
};

}  // namespace polyad::tasks
