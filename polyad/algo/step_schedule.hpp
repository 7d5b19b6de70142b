#pragma once

#include <string>
#include <vector>

namespace polyad {

// How the size of a step changes from epoch to epoch.
struct StepSchedule {
  enum class Kind {
    constant,
    inverse,  // size / (1 + decay * epoch)
    bold,     // larger by a twentieth after an epoch that met smaller errors, half after one that did not
    adagrad   // constant, divided for every row by what it has seen; see SgdStep
  };
  Kind kind = Kind::adagrad;
  double size = 0.05;  // the first
  double decay = 0.1;  // of inverse
};
std::string to_string(StepSchedule::Kind kind);
std::vector<StepSchedule::Kind> all_step_schedules();
// A size that suits ratings of unit deviation.
double default_step(StepSchedule::Kind kind);

// The sizes of one run, epoch after epoch.
class StepSizes {
 public:
  explicit StepSizes(const StepSchedule& schedule) : schedule_(schedule), size_(schedule.size) {}

  // Of epoch 0, 1, ... Epochs that were trained before count.
  double of_epoch(int epoch) const;
  // Told of the errors that an epoch met.
  void after_epoch(double train_rmse);
  // All sizes from now on.
  void halve() { size_ /= 2; }

 private:
  StepSchedule schedule_;
  double size_;
  double last_rmse_ = -1;
};

}  // namespace polyad
