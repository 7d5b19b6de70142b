#pragma once

#include <memory>
#include <string>

#include "polyad/dense/contraction_expression.hpp"
#include "polyad/dense/dense_tensor.hpp"
#include "polyad/io/arrays/npy_diagonal.hpp"

namespace polyad::report {}

namespace polyad::cli {

using namespace dense;   // NOLINT(google-build-using-namespace)
using namespace report;  // NOLINT(google-build-using-namespace)

// An input of a contraction in a file: the array, or the diagonal of it that its indices ask for.
class NpyInput {
 public:
  // Throws Error{bad_input} when the file has not as many dimensions as there are indices.
  NpyInput(const std::string& path, const IndexNames& indices);

  const std::vector<Index>& shape() const { return diagonal_->shape(); }
  Index width() const { return file_->head().width; }
  // Collective.
  template <class Real>
  DenseTensor<Real> read(const ProcessGrid& grid, const TensorDistribution& distribution) const;

 private:
  std::unique_ptr<io::NpyFile> file_;
  std::unique_ptr<io::NpyDiagonal> diagonal_;
};

// All processes write, each its own stretches; the file appears when all have written. Collective.
template <class Real>
void write_npy(const DenseTensor<Real>& x, const std::string& path, io::Existing existing);

}  // namespace polyad::cli
