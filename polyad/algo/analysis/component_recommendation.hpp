#pragma once

#include <span>

#include "polyad/algo/analysis/count_evidence.hpp"

namespace polyad {

// Thresholds of the recommendation.
inline constexpr double min_stability = 0.9;
inline constexpr double min_core_consistency = 50;
// Required improvement of the held-out error by more components: a fraction of the error, or of 1 - error.
inline constexpr double worthwhile_gain = 0.05;
// Accuracy of held-out errors.
inline constexpr double min_gain = 1e-3;

// Why there is no held-out error.
enum class Unpredicted { nothing_held_out, only_zeros_held_out };

// A number of components is accepted if its starts agree or its core is consistent: each test may fail
// alone, by a poor start or by similar components. Of the accepted numbers, the smallest is recommended
// whose held-out error is within the required improvement of the smallest error. Without held-out
// errors, the largest number that no test rejects. A matrix has many decompositions for every number, so
// for order 2 both tests are meaningless. Evidence is in ascending order of the number of components.
ComponentRecommendation recommend(std::span<const CountEvidence> evidence, int order,
                                  Unpredicted unpredicted = Unpredicted::nothing_held_out);

}  // namespace polyad
