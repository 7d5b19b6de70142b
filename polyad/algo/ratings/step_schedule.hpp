#pragma once

#include <string>
#include <vector>

namespace polyad {

// How the learning rate of stochastic gradient descent, the size of a step, changes from epoch to epoch.
struct StepSchedule {
  enum class Kind {
    constant,
    inverse,  // size / (1 + decay * epoch), with epochs counted from 0
    bold,     // 5 % larger after an epoch whose errors were smaller than those of the one before, else half
    adagrad   // constant, and divided for every row by the root of its squared gradients so far
  };
  Kind kind = Kind::adagrad;
  double size = 0.05;  // of the first epoch
  double decay = 0.1;  // of Kind::inverse
};
// "constant", "inverse", "bold" or "adagrad".
std::string to_string(StepSchedule::Kind kind);
// All kinds, the default first.
std::vector<StepSchedule::Kind> all_step_schedules();
// The size of the first epoch that suits ratings of standard deviation 1.
double default_step(StepSchedule::Kind kind);

// The step sizes of one run, epoch after epoch.
class StepSizes {
 public:
  explicit StepSizes(const StepSchedule& schedule) : schedule_(schedule), size_(schedule.size) {}

  // The size for an epoch, counted from 0; epochs of an earlier run that is resumed count.
  double of_epoch(int epoch) const;
  // To be called after each epoch with the training error of that epoch.
  void after_epoch(double train_rmse);
  // Halves the sizes of all epochs from now on.
  void halve() { size_ /= 2; }

  // What the next size follows from.
  struct State {
    double size = 0, last_rmse = -1;
  };
  State state() const { return {size_, last_rmse_}; }
  void restore(const State& state) {
    size_ = state.size;
    last_rmse_ = state.last_rmse;
  }

 private:
  StepSchedule schedule_;
  double size_;
  double last_rmse_ = -1;
};

}  // namespace polyad
