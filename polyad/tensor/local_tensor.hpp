#pragma once

#include <variant>

#include "polyad/tensor/coo.hpp"
#include "polyad/tensor/csf.hpp"
#include "polyad/tensor/hicoo.hpp"

namespace polyad {

// The closed set of formats that kernels support. To add one,
// add it here; the compiler then reports every kernel to extend.
template <class Real>
using LocalTensor = std::variant<CooTensor<Real>, CsfTensor<Real>, HicooTensor<Real>>;

enum class Format { coo, csf, hicoo };

// Builds a format; consumes x. The trees, by their mode orders, are those of csf.
template <class Real>
LocalTensor<Real> build_format(SparseTensor<Real, LocalIndex> x, Format format,
                               const std::vector<std::vector<int>>& trees);

template <class Real>
Index bytes(const LocalTensor<Real>& x);

}  // namespace polyad
