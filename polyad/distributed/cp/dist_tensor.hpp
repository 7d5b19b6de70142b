#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/local_nonzeros.hpp"
#include "polyad/tensor/kruskal.hpp"
#include "polyad/tensor/local_tensor.hpp"

namespace polyad {

// A distributed tensor, as algorithms use it: nonzeros are on their processes and in the format of the
// kernels. On one process it holds all nonzeros and owns all rows, and its exchanges send nothing.
template <class Real>
class DistTensor {
 public:
  // `nonzeros` without its tensors, which were converted to `locals`: one for all modes, or one per mode.
  DistTensor(Comm comm, std::vector<Index> extents, const LocalNonzeros<Real>& nonzeros,
             std::vector<LocalTensor<Real>> locals)
      : comm_(std::move(comm)),
        extents_(std::move(extents)),
        exchanges_(nonzeros.exchanges),
        locals_(std::move(locals)),
        num_nonzeros_(nonzeros.num_nonzeros),
        num_negative_(nonzeros.num_negative),
        volume_rows_(comm_.size() > 1 ? nonzeros.volume_rows : 0),
        squared_norm_(nonzeros.squared_norm),
        value_scale_(nonzeros.value_scale) {}

  // Replaces the values of the nonzeros by set(local tensor); requires
  // one local tensor for all modes. squared_norm: of the new values. num_negative() stays as it was.
  template <class Set>
  void set_values(Set set, double squared_norm) {
    set(locals_.front());
    squared_norm_ = squared_norm;
  }

  const Comm& comm() const { return comm_; }
  int order() const { return int(extents_.size()); }
  const std::vector<Index>& extents() const { return extents_; }  // of the whole tensor
  double squared_norm() const { return squared_norm_; }           // of the whole tensor, after scaling
  double value_scale() const { return value_scale_; }             // number by which the values were divided
  double norm() const { return std::sqrt(squared_norm_) * value_scale_; }
  Index num_nonzeros() const { return num_nonzeros_; }  // of the whole tensor
  Index num_negative() const { return num_negative_; }  // of these
  // Number of rows that all processes together send in an iteration; see LocalNonzeros.
  Index volume_rows() const { return volume_rows_; }

  // The nonzeros that this process multiplies in a mode, with local row numbers.
  const LocalTensor<Real>& local(int mode) const { return locals_[locals_.size() == 1 ? 0 : mode]; }

  // The rows of this process: first those that it owns, then those that it borrows; see ExchangePlan.
  const ExchangePlan& exchange(int mode) const { return exchanges_[mode]; }
  std::span<const Index> rows(int mode) const { return exchanges_[mode].rows; }  // [local row]: global row
  Index num_rows(int mode) const { return exchanges_[mode].num_local(); }
  Index num_owned(int mode) const { return exchanges_[mode].num_owned; }
  Index num_solved(int mode) const { return exchanges_[mode].num_solved(); }  // the first rows
  // Number of leading rows whose sums are complete after the local MTTKRP.
  Index num_complete(int mode) const { return exchanges_[mode].num_complete(); }
  // Whether, on any process, sums of rows are complete only after a fold.
  bool folds(int mode) const { return exchanges_[mode].folds; }

 private:
  Comm comm_;
  std::vector<Index> extents_;
  std::vector<ExchangePlan> exchanges_;
  std::vector<LocalTensor<Real>> locals_;
  Index num_nonzeros_, num_negative_, volume_rows_;
  double squared_norm_, value_scale_;
};

}  // namespace polyad
