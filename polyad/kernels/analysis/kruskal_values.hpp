#pragma once

#include <span>

#include "polyad/base/matrix.hpp"
#include "polyad/tensor/kruskal.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::kernels {

// A list of coordinates: coordinates[m][z] is the index in mode m of the z-th.
using Coordinates = std::span<const std::span<const Index>>;

// Entries of a Kruskal tensor at given coordinates: values[z] is the sum
// over the components of the weight times the product of the factor entries.
// Computed in double precision, in the same order for every coordinate.
template <class Real>
void evaluate(const Kruskal<Real>& model, Coordinates coordinates, std::span<double> values);

// The same at the coordinates of the nonzeros of a tensor, whose values are ignored; divided by a number.
template <class Real>
Array<double> values_at(const Kruskal<Real>& model, const SparseTensor<double, LocalIndex>& cells,
                        double divisor);

// The contribution of each component: contributions(z, r). The sum of row z from left to right is values[z].
template <class Real>
void evaluate_components(const Kruskal<Real>& model, Coordinates coordinates, Matrix<double>& contributions);
// The sums of the rows.
void add_components(const Matrix<double>& contributions, std::span<double> values);

namespace ref {
// One entry, directly by the definition.
template <class Real>
double entry(const Kruskal<Real>& model, std::span<const Index> coordinate);
}  // namespace ref

}  // namespace polyad::kernels
