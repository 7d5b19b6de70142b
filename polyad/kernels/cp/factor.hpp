#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad::kernels {

// How many columns a factor should have in memory for so many components: kernels are compiled for some
// widths and work in steps of 16 beyond. Columns of zeros change nothing but the time.
Index padded_components(Index num_components);

// Where iterations start: entry (row, column) is a standard normal number, a function of (seed, mode,
// global row, column) only. Columns from num_components on stay as they are.
template <class Real>
void fill_with_start(Matrix<Real>& factor, Index num_components, std::uint64_t seed, int mode,
                     std::span<const Index> global_rows);
// One such entry.
double start_value(std::uint64_t seed, int mode, Index global_row, Index column);
// The first rows and columns are those of another; what is beyond stays as it is.
template <class Real>
void fill_with_columns(Matrix<Real>& factor, const Matrix<Real>& columns);
// Every entry by its magnitude.
template <class Real>
void make_nonnegative(Matrix<Real>& factor);

// The first num_components columns.
template <class Real>
void keep_components(Kruskal<Real>& model, Index num_components);

template <class Real>
Kruskal<double> in_double(const Kruskal<Real>& model);

// Divides every column by a number; by zero makes it zero.
template <class Real>
void divide_columns(Matrix<Real>& factor, std::span<const double> divisors);

// Permutes the components: the new r-th is the old order[r]-th.
template <class Real>
void reorder_components(Kruskal<Real>& model, std::span<const Index> order);

// The entry of largest magnitude in every column; of two, the positive.
template <class Real>
std::vector<double> largest_entries(const Matrix<Real>& factor);

// Without the rows behind.
template <class Real>
Matrix<Real> first_rows(Matrix<Real> factor, Index num_rows);

}  // namespace polyad::kernels
