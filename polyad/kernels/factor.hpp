#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad {

// Where iterations start: entry (row, column) is a standard normal number, a function of (seed, mode,
// global row, column) only.
template <class Real>
void fill_with_start(Matrix<Real>& factor, std::uint64_t seed, int mode, std::span<const Index> global_rows);

// Divides every column by a number; by zero makes it zero.
template <class Real>
void divide_columns(Matrix<Real>& factor, std::span<const double> divisors);

// Permutes the components: the new r-th is the old order[r]-th.
template <class Real>
void reorder_components(Kruskal<Real>& model, std::span<const Index> order);

// The entry of largest magnitude in every column.
template <class Real>
std::vector<double> largest_entries(const Matrix<Real>& factor);

}  // namespace polyad
