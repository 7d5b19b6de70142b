#pragma once

#include <span>
#include <string>

namespace polyad::report {

// Whether the labels of a mode stand on a scale, so that neighbours are neighbours and a line may join
// them: numbers, dates or times of day that ascend, or names of months or weekdays in their order, which may
// begin anywhere. No labels: yes, the indices are numbers. Looks no further than the first that is not.
bool are_ordered(std::span<const std::string> labels);

}  // namespace polyad::report
