#pragma once

#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/kernels/cp/cell_terms.hpp"
#include "polyad/tensor/local_tensor.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/ratings/rating_rows.hpp"

namespace polyad::kernels {

// Where the time of solve_rows goes, summed over threads.
struct RowSeconds {
  double gather = 0;     // rows of the other modes, copied and scaled, and their part in the right-hand sides
  double products = 0;   // sums of outer products
  double factorise = 0;  // and triangular systems; or conjugate gradients
  double other = 0;

  void operator+=(const RowSeconds& more) {
    gather += more.gather;
    products += more.products;
    factorise += more.factorise;
    other += more.other;
  }
};

// A least-squares problem for each row of a mode, with the rows of the other modes fixed: the row a minimises
// the loss of its cells + ridge * |a|^2. A cell has the value offset + <a, h>, where h is the componentwise
// product of its rows in the other modes.
//
// Columns from num_factors on are biases: in mode n, column num_factors + n is the bias, which is solved for,
// and the columns of the other biases are 1. The factors then have a column per mode in addition; without
// biases they have num_factors columns.
template <class Real>
struct RowSystems {
  // The cells: a tree with the mode at its root; or, without one, a tensor in any format, and the mode.
  const CsfTree<Real>* tree = nullptr;
  const LocalTensor<Real>* cells = nullptr;
  int mode_of_cells = 0;
  // [leaf of the tree, or cell in the order of the format]: the weight of the cell. 0: it does not count;
  // negative: nor does it, but its error is measured as that of a held-out cell. Empty: all are 1.
  std::span<const Real> weights = {};
  CellLoss loss = {};
  double offset = 0;  // of CellLoss::Kind::squares only; with a background, m is the value without it
  Index num_factors = 0;
  std::span<const Real> ridge = {};       // [row]: of its factors
  std::span<const Real> bias_ridge = {};  // [row]: of its bias
  bool is_nonnegative = false;            // the factors of the mode; then there are no biases
  RatingRange range = {};                 // errors are those of values of the model that are clipped to it
  // Componentwise product of the Gram matrices of the other modes; used where the loss has a background.
  const Matrix<double>* gram = nullptr;
  // 0: the systems are solved by Cholesky factorisation. Else: so many steps of conjugate gradients improve
  // the present rows, which takes less time where there are many factors.
  int cg_steps = 0;
  RowSeconds* seconds = nullptr;  // what solving takes is added; null: it is not measured

  int mode() const { return tree != nullptr ? tree->modes()[0] : mode_of_cells; }
};

// Replaces the first num_rows rows of the mode, which is the root of a tree, by the solutions, or by what
// conjugate gradients make of them. A system that is singular gets the solution of smallest norm, but by
// conjugate gradients one near the present row. Nonnegative rows are found from the present ones. The result
// does not depend on the number of threads.
template <class Real>
void solve_rows(const RowSystems<Real>& systems, std::span<Matrix<Real>> factors, Index num_rows);
// The rows of some slices.
template <class Real>
void solve_rows(const RowSystems<Real>& systems, std::span<Matrix<Real>> factors,
                std::span<const Index> slices);
// All rows.
template <class Real>
void solve_rows(const RowSystems<Real>& systems, std::span<Matrix<Real>> factors) {
  solve_rows(systems, factors, factors[std::size_t(systems.mode())].num_rows());
}

// The same in two steps, for rows whose cells are on several processes, and for formats other than trees:
// what cells add to the systems, as words that can be added up; and the solution of the sums.
//
// The words of a system: the upper triangle of its matrix, row by row, and its right-hand side; with biases
// then the row of the matrix that belongs to the bias, and its right-hand side.
Index words_of_system(Index num_factors, bool has_biases);
// What cells that are not observed add to every system of a mode; the loss has a background.
template <class Real>
std::vector<Real> background_words(const RowSystems<Real>& systems);
// Memory that solve_rows needs at most to solve rows with few cells in a basis of their own, where a mode at
// the leaves of the tree has so many rows. Only trees of order 2, and a loss with a background, have one.
template <class Real>
Index dual_basis_bytes(Index num_factors, Index num_leaf_rows);
// Of rows from `first` on: sums.row(i - first) is that of row i, zero where it has no cells here. The result
// does not depend on the number of threads.
template <class Real>
void sum_systems(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors, Index first,
                 Matrix<Real>& sums);
// Replaces the rows from `first` to `end` by solutions; conjugate gradients are not used.
template <class Real>
void solve_sums(const RowSystems<Real>& systems, const Matrix<Real>& sums, Index first, Index end,
                std::span<Matrix<Real>> factors);

struct CellErrors {
  double loss = 0;        // of observed cells: over background * m^2, which every cell adds
  ErrorSums train, test;  // of value - m, over cells that count and over those held out

  void operator+=(const CellErrors& other) {
    loss += other.loss;
    train += other.train;
    test += other.test;
  }
};
// Over all cells. The result does not depend on the number of threads.
template <class Real>
CellErrors measure_cells(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors);

// [row of the mode]: number of cells with positive weight.
template <class Real>
Array<Index> count_cells(const RowSystems<Real>& systems, Index num_rows);

// The values of all cells, in the order of the weights.
template <class Real>
std::span<const Real> cell_values(const RowSystems<Real>& systems);

}  // namespace polyad::kernels
