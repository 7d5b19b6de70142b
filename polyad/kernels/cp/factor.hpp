#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad::kernels {

// Number of columns that a factor should have in memory for num_components: kernels are
// compiled for some widths and for multiples of 16 above. Columns of zeros only cost time.
Index padded_components(Index num_components);

// Initial values of factors: random numbers that depend on the seed and on the place, and on nothing else.
struct RandomStart {
  std::uint64_t seed = 1;
  bool is_uniform = false;  // from 0 to 1; else standard normal

  double value(int mode, Index global_row, Index column) const;
  // Of columns 2 * column_pair and 2 * column_pair + 1.
  std::pair<double, double> values(int mode, Index global_row, Index column_pair) const;
};

// Fills a factor with its initial values. Columns from num_components on are not changed.
template <class Real>
void fill_with_start(Matrix<Real>& factor, Index num_components, const RandomStart& start, int mode,
                     std::span<const Index> global_rows);
// Copies `columns` into the first rows and columns of the factor; the others are not changed.
template <class Real>
void fill_with_columns(Matrix<Real>& factor, const Matrix<Real>& columns);
// Replaces every entry by its absolute value.
template <class Real>
void make_nonnegative(Matrix<Real>& factor);

// Keeps only the first num_components columns.
template <class Real>
void keep_components(Kruskal<Real>& model, Index num_components);

template <class Real>
Kruskal<double> in_double(const Kruskal<Real>& model);

// Divides every column by a number; division by zero sets it to zero.
template <class Real>
void divide_columns(Matrix<Real>& factor, std::span<const double> divisors);

// Permutes the components: the new component r is the old component order[r].
template <class Real>
void reorder_components(Kruskal<Real>& model, std::span<const Index> order);

// The entry of largest magnitude in every column; of two, the positive one.
template <class Real>
std::vector<double> largest_entries(const Matrix<Real>& factor);

// The first num_rows rows.
template <class Real>
Matrix<Real> first_rows(Matrix<Real> factor, Index num_rows);

}  // namespace polyad::kernels
