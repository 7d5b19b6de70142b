#pragma once

#include <string>
#include <vector>

#include "tests/support/decomposed.hpp"

namespace polyad::test {

// A random tensor to decompose on several processes.
struct DistributedCase {
  std::vector<Index> extents;
  Index num_nonzeros;
  Index num_components;
  bool heavy = false;
};

// More processes than nonzeros, than rows, than slices; orders 2 to 6; lengths of 1; empty slices.
inline std::vector<DistributedCase> distributed_cases() {
  return {{{12, 9}, 40, 2},
          {{1, 1, 1}, 1, 1},
          {{5, 1, 4}, 9, 2},
          {{40, 30, 20}, 900, 3},
          {{400, 30, 2}, 700, 4, true},
          {{3000, 5, 900}, 150, 2},
          {{15, 12, 10, 8}, 600, 5},
          {{6, 5, 4, 3, 7}, 400, 3},
          {{3, 2, 4, 2, 3, 2}, 90, 2}};
}

// One after the other.
inline std::string format_of(int n) {
  static const std::vector<std::string> formats{"csf", "coo", "hicoo"};
  return formats[std::size_t(n) % formats.size()];
}

// For the n-th run.
inline CpRunOptions ten_iterations(const DistributedCase& c, int n) {
  auto options = options_for(c.num_components, 10, 0, std::uint64_t(n) + 1);
  options.format = format_of(n);
  return options;
}

}  // namespace polyad::test
