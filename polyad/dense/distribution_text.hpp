#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/dense/tensor_distribution.hpp"

namespace polyad::dense {

// A distribution as it is written: A[a,c,i,k](<0>,<1>,<2>,<3>). An alignment stands behind its mode, as in
// <0,2>+4; then, where they are, " at 1=0" for a hyperplane and " sum 1,3" for sums that are still to be
// made.
struct NamedDistribution {
  std::string tensor;                // may be empty
  std::vector<std::string> indices;  // empty when the text has none
  TensorDistribution distribution;

  friend bool operator==(const NamedDistribution&, const NamedDistribution&) = default;
};

// "(<0>,<1,2>+1)"
std::string to_string(const TensorDistribution& distribution);
std::string to_string(const NamedDistribution& named);

// Reads what to_string writes, spaces allowed; also ROTE's form [(0,1);();(2)] and Elemental's [MC,*]. Throws
// Error{bad_option} that quotes the text and says what was expected where. Not checked against a grid.
NamedDistribution parse_distribution(std::string_view text);

// "abji" or "a,b,j,i": the names of the indices. Without commas every letter is one; behind it, ' and digits
// belong to it.
std::vector<std::string> split_indices(std::string_view text);

}  // namespace polyad::dense
