#pragma once

#include <span>

#include "polyad/base/matrix.hpp"
#include "polyad/tensor/kruskal.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::kernels {

// Some coordinates: coordinates[m][z] is the index in mode m of the z-th.
using Coordinates = std::span<const std::span<const Index>>;

// The entries of a Kruskal tensor at some coordinates: values[z] is the sum over the components of their
// weights times the product of their factors' entries. Products and sums are in double whatever the factors
// are, and in the same order for every coordinate.
template <class Real>
void evaluate(const Kruskal<Real>& model, Coordinates coordinates, std::span<double> values);

// The same at the cells of a tensor, whose own values do not matter; divided by a number.
template <class Real>
Array<double> values_at(const Kruskal<Real>& model, const SparseTensor<double, LocalIndex>& cells,
                        double divisor);

// What each component adds to them: contributions(z, r). Row z, added from left to right, is values[z].
template <class Real>
void evaluate_components(const Kruskal<Real>& model, Coordinates coordinates, Matrix<double>& contributions);
// The sum of each row.
void add_components(const Matrix<double>& contributions, std::span<double> values);

namespace ref {
// One entry, as the definition says it.
template <class Real>
double entry(const Kruskal<Real>& model, std::span<const Index> coordinate);
}  // namespace ref

}  // namespace polyad::kernels
