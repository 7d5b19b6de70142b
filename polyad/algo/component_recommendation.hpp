#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

// What several decompositions with one number of components, from different starts, say about that number.
struct CountEvidence {
  Index num_components = 0;
  std::vector<double> fits;                // [start], to the whole tensor
  std::vector<double> held_out_errors;     // [start]; empty: nothing to predict was held out
  std::vector<double> known_fits;          // [start], of the models that did not see the held-out cells
  std::optional<double> core_consistency;  // of the best start; nothing where the core would be too large
  std::optional<double> stability;         // mean factor match score of all pairs of starts; nothing for one
  std::vector<int> iterations;             // [start]
  std::string format;                      // how the tensor was held

  double best_fit() const;
  double mean_fit() const;
  // Of the start that fits the other cells best: a start that went astray says nothing about the number.
  std::optional<double> held_out_error() const;
};

// Thresholds of the recommendation.
inline constexpr double min_stability = 0.9;
inline constexpr double min_core_consistency = 50;
// What more components must gain in held-out error: a share of the error, or of what it leaves of 1.
inline constexpr double worthwhile_gain = 0.05;
// Held-out errors are not known more exactly.
inline constexpr double min_gain = 1e-3;

struct ComponentRecommendation {
  std::optional<Index> num_components;  // nothing when nothing decides
  std::string reason;                   // with the figures
};

// Why there is no held-out error, where there is none.
enum class Unpredicted { nothing_held_out, only_zeros_held_out };

// A number of components holds up when its starts agree or its core is consistent: either may fail alone, by
// a start that went astray or by components that are much alike. Of those that hold up, the smallest is
// recommended whose held-out error is within a worthwhile gain of their least. Where there is no held-out
// error, it is the largest that no test speaks against. Matrices have many decompositions for every number,
// so for them both tests mean nothing. Evidence is in ascending order of the number of components.
ComponentRecommendation recommend(std::span<const CountEvidence> evidence, int order,
                                  Unpredicted unpredicted = Unpredicted::nothing_held_out);

}  // namespace polyad
