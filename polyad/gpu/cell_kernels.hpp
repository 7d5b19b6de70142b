#pragma once

#include <cstdint>
#include <limits>

#include "polyad/gpu/chunk_sums.hpp"
#include "polyad/kernels/cp/cell_terms.hpp"

// Kernels for least-squares systems of rows. All memory is that of the GPU in use.
namespace polyad::gpu {

// Unknowns of a row, its bias included: the system must fit into the memory of a block of threads.
inline constexpr Index max_gpu_unknowns = 128;
// Entries of the side of a tile of a system, which a thread sums.
inline constexpr int system_tile = 4;
// Cells whose operands are in the memory of a block at once.
inline constexpr int cells_of_panel = 16;

// A system: the upper triangle of its matrix, row by row, and beside it the right-hand side as a column.
// Rows and columns are padded with zeros.
struct SystemShape {
  int num_unknowns = 0;

  POLYAD_ON_DEVICE int rows() const { return padded(num_unknowns); }
  POLYAD_ON_DEVICE int columns() const { return padded(num_unknowns + 1); }
  POLYAD_ON_DEVICE int size() const { return rows() * columns(); }
  // Numbers that a block of threads holds: the system, operands of the cells of a panel, and two vectors.
  int size_in_block() const { return size() + cells_of_panel * (rows() + columns()) + 2 * rows(); }
  // Those on and above the diagonal, row by row.
  POLYAD_ON_DEVICE int num_tiles() const {
    const int down = rows() / system_tile, across = columns() / system_tile;
    return down * across - down * (down - 1) / 2;
  }

 private:
  POLYAD_ON_DEVICE static int padded(int n) { return (n + system_tile - 1) / system_tile * system_tile; }
};

// Cells in the order of a tree, each with all its indices but that of the root, and the rows of the factors.
template <class Real>
struct CellView {
  Index num_cells = 0;
  int order = 0;
  const Real* values = nullptr;
  const Real* weights = nullptr;              // null: all are 1
  const LocalIndex* ids[max_gpu_order] = {};  // [level][cell], from 1
  const Real* rows[max_gpu_order] = {};       // [level]: those of its factor
  int num_columns = 0;                        // of a factor
  int num_factors = 0;                        // the first columns; the others are biases
  int own_bias = -1;                          // the column of the root's bias; -1: there are no biases
  kernels::LossOfCells<Real> loss = {};
  Real offset = 0;

  POLYAD_ON_DEVICE int num_unknowns() const { return num_factors + (own_bias >= 0 ? 1 : 0); }
  POLYAD_ON_DEVICE Real value(Index cell) const { return values[cell] - offset; }
  POLYAD_ON_DEVICE Real weight(Index cell) const { return weights == nullptr ? Real(1) : weights[cell]; }
  POLYAD_ON_DEVICE kernels::CellTerms<Real> terms(Index cell) const {
    return loss.terms(value(cell), weight(cell));
  }
  // The product of the rows of a cell in a column.
  POLYAD_ON_DEVICE Real product(Index cell, int column) const {
    Real x = rows[1][Index(ids[1][cell]) * num_columns + column];
    for (int level = 2; level < order; ++level)
      x *= rows[level][Index(ids[level][cell]) * num_columns + column];
    return x;
  }
  // What a cell has for unknown u, and for the right-hand side: the system is the sum of left_i * right_j.
  POLYAD_ON_DEVICE void operands(Index cell, int u, Real& left, Real& right) const {
    const int unknowns = num_unknowns();
    left = right = Real{};
    if (u > unknowns) return;  // padding
    const auto of_cell = terms(cell);
    if (u < unknowns) {
      left = u < num_factors ? product(cell, u) : Real(1);
      right = of_cell.quadratic * left;
      return;
    }
    right = of_cell.linear;
    if (own_bias < 0 || of_cell.quadratic == 0) return;
    Real others = 0;  // biases, which are explained already
    for (int column = num_factors; column < num_columns; ++column)
      if (column != own_bias) others += product(cell, column);
    right -= of_cell.quadratic * others;
  }
};

// Cells of one slice. Several pieces of a slice are summed separately, to partial systems.
struct CellPiece {
  Index begin, end;
  LocalIndex slice;
  std::int32_t partial;  // -1: the piece is the whole slice, whose system is solved at once
};
// A slice in several pieces, whose partial systems are added in their order.
struct CutSlice {
  LocalIndex slice;
  std::int32_t first, count;
};

template <class Real>
struct SystemsView {
  CellView<Real> cells;
  const CellPiece* pieces = nullptr;
  Index num_pieces = 0;
  const CutSlice* cut_slices = nullptr;
  Index num_cut_slices = 0;
  Real* partial = nullptr;                             // [partial system]
  const Real* background = nullptr;                    // a system that is added to all; null: none
  const LocalIndex* rows = nullptr;                    // [slice]
  const Real *ridge = nullptr, *bias_ridge = nullptr;  // [row]
  Real* factor = nullptr;                              // rows of the solutions
  std::uint8_t* is_singular = nullptr;                 // [slice]: 1 if its row was not solved for

  POLYAD_ON_DEVICE SystemShape shape() const { return {cells.num_unknowns()}; }
  // An entry of a row from its solution x.
  POLYAD_ON_DEVICE Real entry(const Real* x, int column) const {
    if (column < cells.num_factors) return x[column];
    return column == cells.own_bias ? x[cells.num_factors] : Real(1);
  }
};

template <class Real>
inline constexpr Real pivot_rounding = 8 * std::numeric_limits<Real>::epsilon();
template <class Real>
inline constexpr Real largest_pivot = std::numeric_limits<Real>::max();
// As kernels::SymmetricSystem has it.
template <class Real>
POLYAD_ON_DEVICE bool is_pivot(Real pivot, Real diagonal) {
  return pivot > pivot_rounding<Real> * diagonal && pivot <= largest_pivot<Real>;
}

// Solves for all rows that have slices.
template <class Real>
void start_row_systems(const SystemsView<Real>& systems);

// Sums over cells: those of kernels::CellErrors, in its order.
struct CellErrorSums {
  static constexpr int count = 7;
  double x[count];
};
// Errors are those of values of the model that are clipped to a range.
template <class Real>
struct ErrorsView {
  CellView<Real> cells;
  const Real* factor = nullptr;        // of the root
  const LocalIndex* row_of = nullptr;  // [cell]
  double background = 0, least = 0, largest = 0;

  POLYAD_ON_DEVICE CellErrorSums errors(Index cell, Real m) const {
    CellErrorSums sums = {};
    const Real w = cells.weight(cell);
    const auto terms = cells.terms(cell);
    const double squared = double(m) * double(m);
    const double clipped = double(m) < least ? least : double(m) > largest ? largest : double(m);
    const double error = double(cells.value(cell)) - clipped;
    if (cells.loss.is_confidence)
      sums.x[0] =
          double(terms.quadratic) * squared - 2 * double(terms.linear) * double(m) + double(terms.constant);
    else if (w > 0)
      sums.x[0] = double(w) * error * error - background * squared;
    const int first = w > 0 ? 1 : 4;
    if (w == 0) return sums;
    sums.x[first] = error * error;
    sums.x[first + 1] = error < 0 ? -error : error;
    sums.x[first + 2] = 1;
    return sums;
  }
};
// Cells whose errors one block sums; the number of blocks depends on the cells only.
inline constexpr Index cells_per_block = 4096;
// to[block]
template <class Real>
void start_cell_errors(const ErrorsView<Real>& view, CellErrorSums* to);

}  // namespace polyad::gpu
