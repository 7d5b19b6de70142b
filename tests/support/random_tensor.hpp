#pragma once

#include <cmath>
#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::test {

// Nonzeros at random places, duplicates welcome, values of any size. The same for the same arguments.
inline SparseTensor<double> random_tensor(const std::vector<Index>& extents, Index num_nonzeros,
                                          std::uint64_t seed) {
  SparseTensor<double> x(extents);
  std::vector<Index> coordinates(extents.size());
  for (Index z = 0; z < num_nonzeros; ++z) {
    for (std::size_t m = 0; m < extents.size(); ++m)
      coordinates[m] = Index(Random(seed, m).below(std::uint64_t(extents[m]), std::uint64_t(z)));
    const Random values(seed, 100);
    x.append(coordinates,
             values.normal(std::uint64_t(2 * z)) * std::exp(30 * values.normal(std::uint64_t(2 * z + 1))));
  }
  return x;
}

// Shapes of orders 2 to 6, with extents of 1, long modes and few nonzeros among them.
inline std::vector<std::vector<Index>> odd_shapes() {
  return {{1, 1},
          {3, 5},
          {1, 7, 2},
          {4, 3, 2},
          {20, 1, 30, 4},
          {2, 3, 4, 5, 6},
          {3, 2, 1, 2, 3, 2},
          {Index(1) << 40, 3, 1000000007},
          {Index(1) << 62, Index(1) << 62, 2}};
}

}  // namespace polyad::test
