#pragma once

#include <functional>
#include <optional>

namespace polyad {

// Errors of predicted ratings, in the units of the ratings. Both are 0 where there are no ratings.
struct ErrorFigures {
  double rmse = 0;  // root of the mean squared error
  double mae = 0;   // mean absolute error
};

// What happened in one epoch of training.
struct EpochRecord {
  int epoch = 0;    // counted from 1; includes the epochs of a model that training was resumed from
  double step = 0;  // learning rate; 0 in alternating least squares
  double loss = 0;  // what alternating least squares minimise; 0 in gradient descent
  // Of each rating: in gradient descent just before the model learned from it, in alternating least squares
  // after the sweep; nan in implicit feedback.
  ErrorFigures train;
  std::optional<ErrorFigures> test;  // after the epoch; nothing where there are no test ratings
  double seconds = 0;                // for training and testing, on this process
  // The errors grew beyond all bounds: the epoch was undone and will be repeated with half the step.
  bool was_undone = false;
  bool validates = false;  // whether `test` is of validation ratings, which choose the epoch
  // All epochs before were undone as well, and training starts over with the smaller step.
  bool began_anew = false;
};

// Time of a process by activity, in seconds. Copies to a GPU are communication.
struct EpochSeconds {
  double learn = 0, communicate = 0, wait = 0, evaluate = 0;
};

// Called on every process after each epoch. Returns whether to go on.
using CompletionObserver = std::function<bool(const EpochRecord&)>;

// Why training ended.
enum class CompletionStop {
  epochs,       // the largest number of epochs was reached
  test_error,   // the error on the test ratings no longer fell
  settled,      // a sweep of least squares hardly lowered the loss
  observer,     // the observer stopped it
  interrupted,  // a signal asked for it
  time_limit
};

// Whether training was ended before it had come to its end, as its options and its observer see it.
inline bool is_cut_short(CompletionStop stop) {
  return stop == CompletionStop::interrupted || stop == CompletionStop::time_limit;
}

}  // namespace polyad
