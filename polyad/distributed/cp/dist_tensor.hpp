#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/local_nonzeros.hpp"
#include "polyad/tensor/kruskal.hpp"
#include "polyad/tensor/local_tensor.hpp"

namespace polyad {

// A tensor as algorithms see it: who holds what is settled, and the nonzeros are in the format of the
// kernels. One process holds all nonzeros and owns all rows; so its exchanges move nothing.
template <class Real>
class DistTensor {
 public:
  // `nonzeros` without its tensors, which have become `locals`: one for all modes, or one per mode.
  DistTensor(Comm comm, std::vector<Index> extents, const LocalNonzeros<Real>& nonzeros,
             std::vector<LocalTensor<Real>> locals)
      : comm_(std::move(comm)),
        extents_(std::move(extents)),
        exchanges_(nonzeros.exchanges),
        locals_(std::move(locals)),
        num_nonzeros_(nonzeros.num_nonzeros),
        volume_rows_(comm_.size() > 1 ? nonzeros.volume_rows : 0),
        squared_norm_(nonzeros.squared_norm),
        value_scale_(nonzeros.value_scale) {}

  // Gives the nonzeros other values, of this squared norm, where all modes have one local tensor:
  // set(local tensor).
  template <class Set>
  void set_values(Set set, double squared_norm) {
    set(locals_.front());
    squared_norm_ = squared_norm;
  }

  const Comm& comm() const { return comm_; }
  int order() const { return int(extents_.size()); }
  const std::vector<Index>& extents() const { return extents_; }  // of the whole tensor
  double squared_norm() const { return squared_norm_; }           // of the whole tensor, as it is held
  double value_scale() const { return value_scale_; }             // what its values were divided by
  double norm() const { return std::sqrt(squared_norm_) * value_scale_; }
  Index num_nonzeros() const { return num_nonzeros_; }  // of the whole tensor
  // Rows that all processes together must move in an iteration; see LocalNonzeros.
  Index volume_rows() const { return volume_rows_; }

  // The nonzeros that this process multiplies in a mode, under local row numbers.
  const LocalTensor<Real>& local(int mode) const { return locals_[locals_.size() == 1 ? 0 : mode]; }

  // The rows that this process has: first those it owns, then those it borrows; see ExchangePlan.
  const ExchangePlan& exchange(int mode) const { return exchanges_[mode]; }
  std::span<const Index> rows(int mode) const { return exchanges_[mode].rows; }  // [local row]: global row
  Index num_rows(int mode) const { return exchanges_[mode].num_local(); }
  Index num_owned(int mode) const { return exchanges_[mode].num_owned; }
  Index num_solved(int mode) const { return exchanges_[mode].num_solved(); }  // the first ones
  // The first rows, whose sums are complete where this process has multiplied.
  Index num_complete(int mode) const { return exchanges_[mode].num_complete(); }
  // Whether a row's sum is complete where it is owned only after partial rows were folded: on any process.
  bool folds(int mode) const { return exchanges_[mode].folds; }

 private:
  Comm comm_;
  std::vector<Index> extents_;
  std::vector<ExchangePlan> exchanges_;
  std::vector<LocalTensor<Real>> locals_;
  Index num_nonzeros_, volume_rows_;
  double squared_norm_, value_scale_;
};

}  // namespace polyad
