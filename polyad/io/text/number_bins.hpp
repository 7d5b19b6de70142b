#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::io {

// The shortest text of a finite number that reads back as the same.
std::string number_label(double number);

// The label of the bin [k * width, (k + 1) * width) that holds a number, as in "[20, 30)". The bounds are
// taken as they are written, to 15 digits: 0.3 is in [0.3, 0.4). Empty if the bin is too far from 0 to be
// written so.
std::string width_label(double number, double width);

// All bins from the first to the last of these labels, so that the axis has no gaps. Throws Error{bad_input}
// if they would be more than a million; `name` is that of the mode.
std::vector<std::string> complete_width_bins(const std::vector<std::string>& labels, double width,
                                             const std::string& name);

// Sorts labels of number_label by their numbers.
void sort_numbers(std::vector<std::string>& labels);

// Bins of about equally many entries.
struct QuantileBins {
  std::vector<std::string>
      labels;                 // "[1, 5)", "[5, 12)", "[12, 40]": from the first number to that of the next
  std::vector<Index> bin_of;  // [number]
};
// Of ascending numbers, as labels, and how many entries have each. A number is in bin floor(num_bins *
// smaller / all), where `smaller` entries have smaller numbers: equal ones are in one bin, and bins that no
// number falls into are left out.
QuantileBins quantile_bins(std::span<const std::string> numbers, std::span<const Index> counts,
                           Index num_bins);

// The bins of quantile_bins, to find those of other numbers.
class Intervals {
 public:
  // Other labels are left out.
  explicit Intervals(std::span<const std::string> labels);
  // The place of the interval that holds a number, -1 if none does.
  Index find(double number) const;

 private:
  struct Interval {
    double lower, upper;
    bool is_closed;  // above
    Index place;
  };
  std::vector<Interval> intervals_;  // by lower bounds
};

}  // namespace polyad::io
