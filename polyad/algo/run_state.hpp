#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "polyad/algo/cp/cp_options.hpp"
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

// Where a run is after an iteration.
template <class Real>
struct RunPause {
  int iteration = 0;                          // from 1
  double fit = 0;                             // of the model; of ratings, the root mean square error
  bool is_end = false;                        // there is no further iteration
  std::function<void(RunState<Real>&)> save;  // adds the state of the run
};

// What a run goes on from, and what is done between its iterations, beside the observer.
template <class Real>
struct RunControls {
  RunRestart<Real>* from = nullptr;  // its numbers are taken; null: from the start
  // Called on every process after each iteration. Returns a reason to stop, the same on all processes.
  std::function<std::optional<StopReason>(const RunPause<Real>&)> pause = {};
};

}  // namespace polyad
