#include "polyad/kernels/cp/mttkrp.hpp"

#include <algorithm>
#include <cassert>

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/cp/coordinate_mttkrp.hpp"
#include "polyad/kernels/cp/csf_sweep.hpp"

namespace polyad::kernels {
namespace {

template <class Real>
void mttkrp_of(const CooTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode, Matrix<Real>& m) {
  coo_mttkrp(x, factors, mode, m);
}

template <class Real>
void mttkrp_of(const HicooTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode, Matrix<Real>& m) {
  hicoo_mttkrp(x, factors, mode, m);
}

// By the tree that has the mode at its root, or else where it is highest: the sums below are shared by
// more nonzeros there.
template <class Real>
void mttkrp_of(const CsfTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode, Matrix<Real>& m) {
  const auto tree = std::ranges::min_element(x.trees, {}, [&](const auto& t) { return t.level_of(mode); });
  const int level = tree->level_of(mode);
  const auto cuts = cut_evenly(*tree, num_threads(), m.num_cols());
  const CutTree<Real> cut{*tree, cuts};
  if (level == 0) return root_mttkrp(cut, factors, m);
  PartialRows<Real> parts(num_threads(), m.num_rows(), m.num_cols());
  scatter_mttkrp(cut, factors, level, parts);
  add_up(parts, m);
}

}  // namespace

template <class Real>
void mttkrp(const LocalTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode, Matrix<Real>& m) {
  assert(m.num_cols() == factors[mode].num_cols() && m.num_rows() == factors[mode].num_rows());
  std::visit([&](const auto& format) { mttkrp_of(format, factors, mode, m); }, x);
}

template <class Real, class Id>
Matrix<double> ref::mttkrp(const SparseTensor<Real, Id>& x, std::span<const Matrix<Real>> factors, int mode) {
  const Index n = factors[mode].num_cols();
  Matrix<double> m(factors[mode].num_rows(), n);
  for (Index z = 0; z < x.num_nonzeros(); ++z)
    for (Index r = 0; r < n; ++r) {
      double product = x.values()[z];
      for (int k = 0; k < x.order(); ++k)
        if (k != mode) product *= factors[k](Index(x.indices(k)[z]), r);
      m(Index(x.indices(mode)[z]), r) += product;
    }
  return m;
}

template void mttkrp(const LocalTensor<float>&, std::span<const Matrix<float>>, int, Matrix<float>&);
template Matrix<double> ref::mttkrp(const SparseTensor<float, LocalIndex>&, std::span<const Matrix<float>>,
                                    int);
template Matrix<double> ref::mttkrp(const SparseTensor<float, Index>&, std::span<const Matrix<float>>, int);

template void mttkrp(const LocalTensor<double>&, std::span<const Matrix<double>>, int, Matrix<double>&);
template Matrix<double> ref::mttkrp(const SparseTensor<double, LocalIndex>&, std::span<const Matrix<double>>,
                                    int);
template Matrix<double> ref::mttkrp(const SparseTensor<double, Index>&, std::span<const Matrix<double>>, int);

}  // namespace polyad::kernels
