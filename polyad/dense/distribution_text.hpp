#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/dense/tensor_distribution.hpp"

namespace polyad::dense {

// A distribution in the notation A[a,c,i,k](<0>,<1>,<2>,<3>). An
// alignment follows its mode, as in <0,2>+4; then, if there are
// any, " at 1=0" for a hyperplane and " sum 1,3" for pending sums.
struct NamedDistribution {
  std::string tensor;                // may be empty
  std::vector<std::string> indices;  // empty if the text has none
  TensorDistribution distribution;

  friend bool operator==(const NamedDistribution&, const NamedDistribution&) = default;
};

// Text such as "(<0>,<1,2>+1)".
std::string to_string(const TensorDistribution& distribution);
std::string to_string(const NamedDistribution& named);

// Parses the output of to_string, also with spaces, ROTE's form [(0,1);();(2)] and Elemental's [MC,*].
// Throws Error{bad_option} that quotes the text and says what was expected. Not checked against a grid.
NamedDistribution parse_distribution(std::string_view text);

// Parses names of indices: "abji" or "a,b,j,i". Without commas
// every letter is a name, including primes and digits after it.
std::vector<std::string> split_indices(std::string_view text);

}  // namespace polyad::dense
