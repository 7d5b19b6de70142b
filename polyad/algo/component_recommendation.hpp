#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

// Evidence from several decompositions with one number of components, from different starts.
struct CountEvidence {
  Index num_components = 0;
  std::vector<double> fits;                // [start]: fit to the whole tensor
  std::vector<double> held_out_errors;     // [start]; empty: nothing to predict was held out
  std::vector<double> known_fits;          // [start]: of the models without the held-out cells
  std::optional<double> core_consistency;  // of the best start; nothing if the core would be too large
  std::optional<double> stability;         // mean factor match score of all pairs of starts; nothing for one
  std::vector<int> iterations;             // [start]
  std::string format;                      // storage format of the tensor

  double best_fit() const;
  double mean_fit() const;
  // Held-out error of the start that fits the other cells best: a poor start says nothing about the number.
  std::optional<double> held_out_error() const;
};

// Thresholds of the recommendation.
inline constexpr double min_stability = 0.9;
inline constexpr double min_core_consistency = 50;
// Required improvement of the held-out error by more components: a fraction of the error, or of 1 - error.
inline constexpr double worthwhile_gain = 0.05;
// Accuracy of held-out errors.
inline constexpr double min_gain = 1e-3;

struct ComponentRecommendation {
  std::optional<Index> num_components;  // nothing if the evidence decides nothing
  std::string reason;                   // a sentence with the figures
};

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
