#pragma once

#include <span>
#include <string>

namespace polyad::report {

// Whether the labels of a mode are ordered, so that a line may connect neighbours: ascending
// numbers, dates or times of day, or names of months or weekdays in their order, starting
// anywhere. Without labels: yes, the indices are numbers. Stops at the first label that is not.
bool are_ordered(std::span<const std::string> labels);

}  // namespace polyad::report
