#pragma once

#include <vector>

#include "polyad/tensor/kruskal_rows.hpp"

namespace polyad::kernels {

// Two components of nearly the same shape. The congruence is the product over the modes of the cosines
// between their columns: near 1 they say the same, near -1 they nearly cancel each other.
struct CongruentPair {
  Index first = 0, second = 0;
  double congruence = 0;
};

inline constexpr double congruence_limit = 0.95;

// Pairs of components beyond congruence_limit, the closest first.
template <class Real>
std::vector<CongruentPair> find_congruent(const KruskalRows<Real>& model);

}  // namespace polyad::kernels
