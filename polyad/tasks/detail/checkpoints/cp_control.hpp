#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "polyad/algo/cp/cp_state.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/tasks/detail/checkpoints/run_control.hpp"

namespace polyad::tasks {

// Rows of vectors as long as the factors together: [vector][mode], of which some columns are kept.
template <class Real>
OwnRows<Real> rows_of_vectors(const DistTensor<Real>& x, std::vector<kernels::FactorVector<Real>> vectors,
                              Index num_columns) {
  OwnRows<Real> own;
  std::vector<Index> counts;
  for (int m = 0; m < x.order(); ++m) {
    counts.push_back(x.num_owned(m));
    own.numbers.push_back(x.rows(m).first(std::size_t(counts.back())));
  }
  own.width = std::ssize(vectors) * num_columns;
  const auto place = [counts](const kernels::FactorVector<Real>& vector, int mode, Index row) {
    const Index stride = std::ssize(vector[mode]) / counts[mode];  // rows may be padded
    return vector[mode].data() + row * stride;
  };
  own.read = [=](int mode, Index row, Real* to) {
    for (const auto& vector : vectors) to = std::copy_n(place(vector, mode, row), num_columns, to);
  };
  own.write = [=](int mode, Index row, const Real* from) {
    for (const auto& vector : vectors) {
      std::copy_n(from, num_columns, place(vector, mode, row));
      from += num_columns;
    }
  };
  return own;
}

// RunControl for algorithms whose state is made of vectors as long as the factors.
template <class Real>
class CpRunControl {
 public:
  CpRunControl(const DistTensor<Real>& x, RunControl<Real>& run) : x_(x), controls_(run.controls()) {
    if (controls_.from == nullptr) return;
    const auto fill = [this](const std::vector<kernels::FactorVector<Real>>& vectors, Index num_columns) {
      controls_.from->fill(rows_of_vectors<Real>(x_, vectors, num_columns), std::ssize(vectors), num_columns);
    };
    restart_ = CpRestart<Real>{std::move(controls_.from->numbers), fill};
  }
  CpRunControl(const CpRunControl&) = delete;
  CpRunControl& operator=(const CpRunControl&) = delete;

  CpControl<Real> control() {
    if (!controls_.pause) return {};
    return {restart_ ? &*restart_ : nullptr, [this](const CpPause<Real>& pause) { return act(pause); },
            controls_.ask};
  }

 private:
  std::optional<StopReason> act(const CpPause<Real>& pause) {
    const auto save = [&](RunState<Real>& state) {
      CpState<Real> cp;
      cp.numbers = std::move(state.numbers);
      pause.save(cp);
      state.numbers = std::move(cp.numbers);
      state.num_vectors = std::ssize(cp.vectors);
      state.num_columns = cp.num_columns;
      state.rows = rows_of_vectors<Real>(x_, std::move(cp.vectors), cp.num_columns);
    };
    return controls_.pause({pause.iteration, pause.fit, pause.is_end, save, pause.asked});
  }

  const DistTensor<Real>& x_;
  RunControls<Real> controls_;
  std::optional<CpRestart<Real>> restart_;
};

}  // namespace polyad::tasks
