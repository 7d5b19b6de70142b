#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/tensor/compact.hpp"
#include "polyad/tensor/kruskal.hpp"
#include "polyad/tensor/local_tensor.hpp"

namespace polyad {

// A tensor as algorithms see it: who holds what is settled, and the nonzeros are in the format of the
// kernels. One process holds all nonzeros and owns all rows; so its exchanges move nothing.
template <class Real>
class DistTensor {
 public:
  DistTensor(Comm comm, std::vector<Index> extents, std::vector<Array<Index>> rows, LocalTensor<Real> local,
             double squared_norm, double value_scale = 1)
      : comm_(std::move(comm)),
        extents_(std::move(extents)),
        rows_(std::move(rows)),
        local_(std::move(local)),
        squared_norm_(squared_norm),
        value_scale_(value_scale) {}

  const Comm& comm() const { return comm_; }
  int order() const { return int(extents_.size()); }
  const std::vector<Index>& extents() const { return extents_; }  // of the whole tensor
  double squared_norm() const { return squared_norm_; }           // of the whole tensor, as it is held
  double value_scale() const { return value_scale_; }             // what its values were divided by
  double norm() const { return std::sqrt(squared_norm_) * value_scale_; }

  // The nonzeros that this process multiplies in a mode, under local row numbers.
  const LocalTensor<Real>& local(int) const { return local_; }
  // [local row]: the global row.
  std::span<const Index> rows(int mode) const { return rows_[mode]; }
  Index num_rows(int mode) const { return std::ssize(rows_[mode]); }

  // Adds partial rows up at their owners; brings new rows to those who need them. Collective.
  void fold(int, Matrix<Real>&) const {}
  void expand(int, Matrix<Real>&) const {}

 private:
  Comm comm_;
  std::vector<Index> extents_;
  std::vector<Array<Index>> rows_;
  LocalTensor<Real> local_;
  double squared_norm_, value_scale_;
};

// The model with a row for every index of every mode, those of empty slices zero.
template <class Real>
Kruskal<double> gather_model(const DistTensor<Real>& x, const Kruskal<Real>& local);

}  // namespace polyad
