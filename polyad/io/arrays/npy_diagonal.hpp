#pragma once

#include <span>
#include <vector>

#include "polyad/io/arrays/npy_file.hpp"

namespace polyad::io {

// The elements of an array in a file whose indices agree in some of its dimensions, as an array by itself: of
// A[i,i,j] the one of i and j. Nothing else is kept of the file. An array without repeated labels is its own
// diagonal.
class NpyDiagonal {
 public:
  // A label for every dimension of the file; those with the same one run together, and come where it stands
  // first. Throws Error{bad_input} when they have different extents. The file must outlive this.
  NpyDiagonal(const NpyFile& file, const std::vector<int>& labels);

  const std::vector<Index>& shape() const { return shape_; }
  // Fills `into` with the numbers from the first-named on, in C order or, where the file is in it, in Fortran
  // order.
  template <class Real>
  void read(Index first, std::span<Real> into) const;

 private:
  struct Loop {
    Index extent, stride;
  };

  const NpyFile& file_;
  std::vector<Index> shape_;
  std::vector<Loop> loops_;  // the fastest first
  bool is_whole_;
};

}  // namespace polyad::io
