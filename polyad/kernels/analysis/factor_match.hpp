#pragma once

#include "polyad/tensor/kruskal.hpp"

namespace polyad::kernels {

// Similarity of two decompositions of one tensor, from 0 to 1: components are paired greedily, the most
// similar first; the score of a pair is the product over the modes of the cosines between their columns;
// the result is the mean over the components of the smaller decomposition. Independent of scale.
double factor_match_score(const Kruskal<double>& a, const Kruskal<double>& b);

}  // namespace polyad::kernels
