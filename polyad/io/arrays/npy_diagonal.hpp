#pragma once

#include <span>
#include <vector>

#include "polyad/io/arrays/npy_file.hpp"

namespace polyad::io {

// The elements of an array in a file whose indices are equal in some of its
// dimensions, as an array of its own: of A[i,i,j] the array over i and j.
// Only these are read. An array without repeated labels is its own diagonal.
class NpyDiagonal {
 public:
  // A label for every dimension; those with the same label have the same index, at the position of
  // the first. Throws Error{bad_input} if their extents differ. The file must outlive this object.
  NpyDiagonal(const NpyFile& file, const std::vector<int>& labels);

  const std::vector<Index>& shape() const { return shape_; }
  // Fills `into` with the numbers starting at the given position,
  // in C order or, if the file is in Fortran order, in that.
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
