#pragma once

#include <memory>
#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/kernels/cp/row_systems.hpp"

namespace polyad::gpu {

// Cells of a tensor on a GPU, in the order of every mode, and the factors. Solves the least-squares systems
// of rows as kernels::solve_rows does by factorisation, with the same bits on every run.
template <class Real>
class CellPasses {
 public:
  CellPasses() = default;
  CellPasses(const CellPasses&) = delete;
  CellPasses& operator=(const CellPasses&) = delete;
  virtual ~CellPasses() = default;

  // Says that rows of a factor were changed in the memory of the machine.
  virtual void put_rows(int mode, const Matrix<Real>& factor) = 0;

  // Solves for the first num_rows rows, here and in `factors`. The systems are those of a mode that is the
  // root of the tree that make_cell_passes was given, with its weights.
  virtual void solve_rows(const kernels::RowSystems<Real>& systems, std::span<Matrix<Real>> factors,
                          Index num_rows) = 0;

  virtual kernels::CellErrors measure(const kernels::RowSystems<Real>& systems) = 0;
};

// Throws Error{resource}, which says what would fit, where the memory of a GPU is not enough for passes over
// so many cells with so many rows of each mode, and Error{bad_option} where this program knows no GPUs, or a
// block of threads has no room for a system.
void check_cell_passes(int device, std::span<const Index> num_rows, Index num_cells, Index num_factors,
                       Index num_biases, Index value_bytes);

// Of every mode: the systems have a tree, weights and the number of factors; the others of their settings are
// not used. Throws Error{resource} where the memory of the GPU is not enough.
template <class Real>
std::unique_ptr<CellPasses<Real>> make_cell_passes(int device,
                                                   std::span<const kernels::RowSystems<Real>> modes,
                                                   std::span<const Matrix<Real>> factors);

// The memory that a block of threads needs for the system of a row.
Index block_bytes_of_system(Index num_unknowns, Index value_bytes);
// What these need on the GPU, at most.
Index cell_passes_bytes(std::span<const Index> num_rows, Index num_cells, Index num_columns,
                        Index value_bytes);

}  // namespace polyad::gpu
