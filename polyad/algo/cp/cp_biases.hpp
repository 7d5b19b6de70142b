#pragma once

#include <span>
#include <vector>

#include "polyad/tensor/kruskal.hpp"

namespace polyad {

// What a model of observed cells has besides its components: value = mean + the sum over modes of the bias of
// the row + components.
template <class Real>
struct CpBiases {
  double mean = 0;
  std::vector<std::vector<Real>> of_rows;  // [mode][row that this process owns]
  std::vector<double> norms;               // [mode]: of all its biases, over all processes
};

// Takes the columns from num_components on off the factors and Gram matrices of observed_als. The mean is 0.
template <class Real>
CpBiases<Real> take_biases(std::vector<Matrix<Real>>& factors, std::vector<Matrix<double>>& grams,
                           Index num_components);

// Appends them to a model as components, so that it is a sum of components like any other: first the mean,
// which has columns of equal entries, then the biases of each mode, with equal and positive entries in the
// other modes. Columns have length 1 over all rows, slices without cells included; a component of zeros has
// weight 0 and columns of zeros. A mean below zero has a negative column in the first mode. `unit`: factor
// for all values. Returns the row that slices without cells have, [mode].
template <class Real>
std::vector<std::vector<double>> append_biases(Kruskal<Real>& model, const CpBiases<Real>& biases,
                                               std::span<const Index> extents, double unit);

// Whether the last components of a whole model are a mean and biases: such models have at least order + 1.
bool has_biases(const Kruskal<double>& model);
// [mode][row]: the biases of such a model.
std::vector<std::vector<double>> biases_of(const Kruskal<double>& model);

}  // namespace polyad
