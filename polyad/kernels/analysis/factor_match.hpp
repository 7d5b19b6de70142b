#pragma once

#include "polyad/tensor/kruskal.hpp"

namespace polyad::kernels {

// How alike two decompositions of one tensor are, from 0 to 1: components are paired, the most alike first,
// and for each pair the cosines of the angles between their columns are multiplied over the modes; the
// score is the mean over the components of the smaller decomposition. Scale does not matter.
double factor_match_score(const Kruskal<double>& a, const Kruskal<double>& b);

}  // namespace polyad::kernels
