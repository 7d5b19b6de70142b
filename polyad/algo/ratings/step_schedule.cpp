#include "polyad/algo/ratings/step_schedule.hpp"

namespace polyad {

std::string to_string(StepSchedule::Kind kind) {
  switch (kind) {
    case StepSchedule::Kind::constant:
      return "constant";
    case StepSchedule::Kind::inverse:
      return "inverse";
    case StepSchedule::Kind::bold:
      return "bold";
    case StepSchedule::Kind::adagrad:
      return "adagrad";
  }
  return "";
}

std::vector<StepSchedule::Kind> all_step_schedules() {
  using Kind = StepSchedule::Kind;
  return {Kind::adagrad, Kind::constant, Kind::inverse, Kind::bold};
}

double default_step(StepSchedule::Kind kind) {
  return kind == StepSchedule::Kind::adagrad ? 0.05 : 0.03;
}

double StepSizes::of_epoch(int epoch) const {
  return schedule_.kind == StepSchedule::Kind::inverse ? size_ / (1 + schedule_.decay * epoch) : size_;
}

void StepSizes::after_epoch(double train_rmse) {
  if (schedule_.kind == StepSchedule::Kind::bold && last_rmse_ >= 0)
    size_ *= train_rmse < last_rmse_ ? 1.05 : 0.5;
  last_rmse_ = train_rmse;
}

}  // namespace polyad
