#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

// What decompositions with one number of components, from several random starts, say about that number.
struct CountEvidence {
  Index num_components = 0;
  std::vector<double> fits;  // [start], to the whole tensor
  std::vector<double>
      held_out_errors;             // [start], relative error at held-out cells; empty: none were held out
  std::vector<double> known_fits;  // [start], of the models that did not see the held-out cells
  // Core consistency of the best start, at most 100 (CORCONDIA); nothing where the core would be too large.
  std::optional<double> core_consistency;
  // Mean factor match score of all pairs of starts, from 0 to 1; nothing for a single start.
  std::optional<double> stability;
  std::vector<int> iterations;  // [start]
  std::string format;           // storage format of the tensor

  double best_fit() const;
  double mean_fit() const;
  // Of the start that fits the known cells best; nothing where no cells were held out.
  std::optional<double> held_out_error() const;
};

struct ComponentRecommendation {
  std::optional<Index> num_components;  // nothing where the evidence does not decide
  std::string reason;                   // a sentence, with the figures
};

}  // namespace polyad
