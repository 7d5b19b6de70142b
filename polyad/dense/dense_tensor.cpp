#include "polyad/dense/dense_tensor.hpp"

#include <fmt/format.h>

#include <utility>

#include "polyad/base/error.hpp"

namespace polyad::dense {

template <class Real>
DenseTensor<Real>::DenseTensor(ProcessGrid grid, std::vector<Index> extents, TensorDistribution distribution)
    : DenseTensor(std::move(grid), std::move(extents), std::move(distribution), {}) {
  local_.resize(std::size_t(local_size(layout_, grid_.comm().rank())));
}

template <class Real>
DenseTensor<Real>::DenseTensor(ProcessGrid grid, std::vector<Index> extents, TensorDistribution distribution,
                               Array<Real> local)
    : grid_(std::move(grid)),
      layout_(make_layout(grid_.shape(), std::move(extents), std::move(distribution))),
      local_(std::move(local)) {
  if (order() > max_dense_order)
    throw Error(Errc::bad_option,
                fmt::format("a dense tensor of order {}: at most {} are possible", order(), max_dense_order));
}

template class DenseTensor<float>;
template class DenseTensor<double>;

}  // namespace polyad::dense
