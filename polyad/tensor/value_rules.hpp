#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

// What the value of a cell is if several nonzeros have its coordinates.
enum class Duplicates {
  sum,
  mean,
  max,
  last,   // in the order of the file
  count,  // the number of nonzeros, whatever their values
  refuse  // an error
};
// "sum", "mean", ..., as the command line calls them; and all of them.
std::string to_string(Duplicates rule);
std::span<const Duplicates> all_duplicate_rules();

// What is done to every value after duplicates are combined.
enum class Transform {
  none,
  log1p,   // log(1 + value)
  sqrt,    // square root
  binary,  // 1 for every value but 0
};
// "none", "log1p", ..., as the command line calls them; and all of them.
std::string to_string(Transform transform);
std::span<const Transform> all_transforms();

// What was done to the values of a tensor before a model was fitted to them. Predictions are compared with
// values to which the same was done.
struct ValuePreparation {
  Duplicates duplicates = Duplicates::sum;
  Transform transform = Transform::none;
  // [mode], or one for all: slices of fewer nonzeros were left out; empty: none were.
  std::vector<Index> min_count = {};

  friend bool operator==(const ValuePreparation&, const ValuePreparation&) = default;
};

// What becomes of a value; not finite if it has no such result.
double transformed(double value, Transform transform);

// The values of a cell, added in the order of the file.
class CellValue {
 public:
  void add(double value) {
    sum_ += value;
    max_ = std::max(max_, value);
    last_ = value;
    ++count_;
  }
  Index count() const { return count_; }
  // What the rule makes of them; Duplicates::refuse: the last.
  double combined(Duplicates rule) const;

 private:
  double sum_ = 0, max_ = -std::numeric_limits<double>::infinity(), last_ = 0;
  Index count_ = 0;
};

}  // namespace polyad
