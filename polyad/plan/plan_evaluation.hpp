#pragma once

#include "polyad/plan/plan_als.hpp"

namespace polyad {

// The evaluation of value and gradient for all factors at once (CP-OPT) with the smallest predicted time: all
// modes by the first levels of one tree, or several trees with a set of modes each, as in a dimension tree
// (Phan, Tichavský and Cichocki 2013) whose partial products exist only while a pass needs them. Like
// plan_csf, a function of its arguments only.
AlsPlan plan_evaluation(const AlsCost& cost, const AlsPlanOptions& options);

}  // namespace polyad
