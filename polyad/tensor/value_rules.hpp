#pragma once

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

// What is done to every value after duplicates are combined.
enum class Transform {
  none,
  log1p,   // log(1 + value)
  sqrt,    // square root
  binary,  // 1 for every value but 0
};

}  // namespace polyad
