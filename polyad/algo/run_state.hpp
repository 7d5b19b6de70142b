#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "polyad/algo/cp/cp_options.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/state_rows.hpp"

namespace polyad {

// The state of a run between two iterations, or epochs: what it needs to go on as if it had not been
// interrupted, with the same bits on the same layout.

// Numbers that are put one after the other, and taken in the same order.
class StateNumbers {
 public:
  StateNumbers() = default;
  explicit StateNumbers(std::vector<double> values) : values_(std::move(values)) {}

  void put(double number) { values_.push_back(number); }
  void put_list(std::span<const double> numbers);  // with its length

  // Throw Error{bad_input} if there are not so many numbers, or if a list has another length than `into`.
  double take();
  int take_int() { return int(take()); }
  std::vector<double> take_list();
  void take_list(std::span<double> into);

  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
  std::size_t next_ = 0;
};

// A state to be saved.
template <class Real>
struct RunState {
  StateNumbers numbers;  // the same on all processes
  // Entries: num_vectors times num_columns. Valid until the run goes on.
  OwnRows<Real> rows;
  Index num_vectors = 0, num_columns = 0;
};

// A saved state to go on from.
template <class Real>
struct RunRestart {
  StateNumbers numbers;
  // Writes the rows that this process owns, of as many vectors and columns as were saved. Collective.
  std::function<void(const OwnRows<Real>& rows, Index num_vectors, Index num_columns)> fill;
};

// What processes ask of a run before its next iteration. Added up over all processes: above zero, some
// process asks for it.
struct RunRequests {
  double stops = 0;     // that it ends: there was a signal
  double runs_out = 0;  // that it ends: another iteration would last beyond the time limit
  double saves = 0;     // that its state is saved
};
using AskProcess = std::function<RunRequests()>;  // what this process asks for; empty: nothing

// Adds up `sums` over all processes, and in the same message what they ask for. The words for that are sent
// whether or not there is somebody to ask: a run has the same bits either way. Collective.
RunRequests add_up_with_requests(const Comm& comm, std::vector<double>& sums, const AskProcess& ask);

// Where a run with states of some kind is after an iteration.
template <class State>
struct PauseWith {
  int iteration = 0;                 // from 1
  double fit = 0;                    // of the model; of ratings, the root mean square error
  bool is_end = false;               // there is no further iteration
  std::function<void(State&)> save;  // adds the state of the run
  RunRequests asked = {};            // by all processes, in a collective of the iteration
};

// What such a run goes on from, and what is done between its iterations, beside the observer.
template <class State, class Restart>
struct ControlsWith {
  Restart* from = nullptr;  // its numbers are taken; null: from the start
  // Called on every process after each iteration, also of those that are repeated. Returns a reason to stop,
  // the same on all processes.
  std::function<std::optional<StopReason>(const PauseWith<State>&)> pause = {};
  // Called on every process during an iteration, perhaps several times; the last answers count.
  AskProcess ask = {};
};

template <class Real>
using RunPause = PauseWith<RunState<Real>>;
template <class Real>
using RunControls = ControlsWith<RunState<Real>, RunRestart<Real>>;

}  // namespace polyad
