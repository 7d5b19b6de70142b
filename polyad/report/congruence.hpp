#pragma once

#include <vector>

#include "polyad/report/component_summary.hpp"

namespace polyad::report {

// Pairs of components beyond congruence_limit, the closest first.
template <class Real>
std::vector<CongruentPair> find_congruent(const KruskalRows<Real>& model);

}  // namespace polyad::report
