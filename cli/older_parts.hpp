#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::cli {

// An older partition to improve, as --refine names it. Both throw Error{bad_input} where the file does not
// fit, and return nothing where none is named.
struct PreviousPartition {
  std::string path;
  std::string dims;  // of the tensor then: --refine-dims
};

// Of things of which there are so many now: those behind the end of the file are new.
std::vector<int> read_older_parts(const PreviousPartition& older, Index num_things, int num_parts);

// Of slices, mode after mode: where modes have grown, they are new in the middle. Throws Error{bad_option}
// where the dims are none that a tensor with these extents can have grown from.
std::vector<int> read_older_slices(const PreviousPartition& older, std::span<const Index> extents,
                                   int num_parts);

}  // namespace polyad::cli
