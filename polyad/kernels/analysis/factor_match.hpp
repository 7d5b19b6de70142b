#pragma once

#include <vector>

#include "polyad/kernels/analysis/matched_components.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad::kernels {

struct FactorMatch {
  std::vector<MatchedComponents> pairs;  // the most alike first; as many as the smaller model has components
  double score = 0;                      // mean of their congruences
};

// Pairs the components of two models of one tensor, which are given mode by mode, the most alike first: the
// pair of the largest congruence among those components that have no partner yet (Acar, Dunlavy, Kolda and
// Morup, "Scalable tensor factorizations for incomplete data", 2011, section 4.2, without the weights).
class FactorMatcher {
 public:
  FactorMatcher(Index num_first, Index num_second);

  // The factors of the next mode, with as many rows as each other.
  void add_mode(const Matrix<double>& first, const Matrix<double>& second);
  FactorMatch match() const;

 private:
  Matrix<double> congruences_;           // (component of the first, of the second)
  std::vector<Matrix<double>> cosines_;  // [mode], likewise
};

// How alike two decompositions of one tensor are, from 0 to 1: the score of their match. Scale does not
// matter.
double factor_match_score(const Kruskal<double>& a, const Kruskal<double>& b);

}  // namespace polyad::kernels
