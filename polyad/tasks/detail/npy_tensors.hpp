#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "polyad/dense/contraction_expression.hpp"
#include "polyad/dense/dense_tensor.hpp"
#include "polyad/io/arrays/npy_diagonal.hpp"

namespace polyad::tasks {

// A dense tensor in an .npy file: the array, or a diagonal of it.
class NpyInput {
 public:
  explicit NpyInput(const std::filesystem::path& path);
  // The diagonal that an index takes which stands several times among the indices. Throws Error{bad_input}
  // unless the file has as many dimensions as there are indices.
  NpyInput(const std::filesystem::path& path, const dense::IndexNames& indices);

  const std::vector<Index>& shape() const { return diagonal_->shape(); }
  Index width() const { return file_->head().width; }  // bytes per number, 4 or 8
  // All processes read, each a part of the file. Collective.
  template <class Real>
  dense::DenseTensor<Real> read(const ProcessGrid& grid, const dense::TensorDistribution& distribution) const;

 private:
  std::unique_ptr<io::NpyFile> file_;
  std::unique_ptr<io::NpyDiagonal> diagonal_;
};

// All processes write, each a part of the file, which appears under its name when it is complete. Collective.
template <class Real>
void write_npy(const dense::DenseTensor<Real>& x, const std::filesystem::path& path, Existing existing);

}  // namespace polyad::tasks
