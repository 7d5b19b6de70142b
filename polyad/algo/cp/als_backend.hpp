#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "polyad/base/timings.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/distributed/routed_exchange.hpp"
#include "polyad/kernels/cp/row_update.hpp"
#include "polyad/plan/als_plan.hpp"

namespace polyad {

// Words under way in the exchange of a mode that has most of them.
template <class Real>
Index num_message_words(const DistTensor<Real>& x, Index num_components, SentRows sent) {
  Index words = 0;
  for (int m = 0; m < x.order(); ++m)
    words = std::max(words, RoutedExchange<Real>::num_words_under_way(x.exchange(m), num_components, sent));
  return words;
}

// Rows that the exchanges of all modes send from.
template <class Real>
Index num_listed_rows(const DistTensor<Real>& x) {
  Index rows = 0;
  for (int m = 0; m < x.order(); ++m) rows += RoutedExchange<Real>::num_listed_rows(x.exchange(m));
  return rows;
}

// The tree of a step. Where a mode has a tensor of its own, that has one tree.
template <class Real>
const CsfTree<Real>& tree_of(const DistTensor<Real>& x, const AlsStep& step) {
  const auto& trees = std::get<CsfTensor<Real>>(x.local(step.mode)).trees;
  return trees[trees.size() == 1 ? 0 : step.tree];
}

// What a run of ALS computes with: a backend works on it, and the driver moves its rows between processes.
template <class Real>
struct AlsData {
  const DistTensor<Real>& x;
  const AlsPlan& plan;
  std::vector<Matrix<Real>>& factors;       // [mode]
  Matrix<Real>& partial;                    // of the mode under way: sums of rows to which others add
  const std::vector<Index>& first_partial;  // [mode]: the row that `partial` begins with
  Timings& timings;
  Index num_wanted;  // components; the others are padding

  Index num_components() const { return factors.front().num_cols(); }
  const CsfTree<Real>& tree(const AlsStep& step) const { return tree_of(x, step); }
};

// Where the passes over the nonzeros run, and the updates of rows. An update of a mode calls begin; where
// rows are shared with other processes, sum_shared; update_complete; and then, where they are, update_shared.
template <class Real>
class AlsBackend {
 public:
  AlsBackend() = default;
  AlsBackend(const AlsBackend&) = delete;
  AlsBackend& operator=(const AlsBackend&) = delete;
  virtual ~AlsBackend() = default;

  // Begins the update of a mode by a step: of its own mode, or of the next one that the step sums, too.
  virtual void begin(const AlsStep& step, int mode) = 0;
  // The sums of rows to which other processes add.
  virtual void sum_shared(const AlsStep& step, int mode) = 0;
  // Updates the rows to which none does.
  virtual kernels::RowSums update_complete(const AlsStep& step, int mode,
                                           const kernels::RowSystem& system) = 0;
  // Updates the others from the sums of all processes. Where rows() is null, they are in `partial` of AlsData
  // then, too.
  virtual kernels::RowSums update_shared(int mode, const kernels::RowSystem& system) = 0;

  // What an iteration reads and writes in the memory of a GPU; 0 on the processor.
  virtual Index device_bytes() const = 0;

  // What the exchanges of all modes send from and receive in, one at a time. Called once, before rows().
  // Collective.
  virtual SharedArray<Real> make_message_buffer() = 0;
  // The sums and rows of a mode for its exchange; null: they are in AlsData.
  virtual RowPlace<Real>* rows(int mode) = 0;

  // Rows of a factor may be elsewhere than in AlsData: copies those of this process's last update there, and
  // says that all were changed there.
  virtual void fetch_rows(int mode) = 0;
  virtual void put_rows(int mode) = 0;
};

// On the processor, in AlsData itself.
template <class Real>
std::unique_ptr<AlsBackend<Real>> make_host_backend(const AlsData<Real>& data);

// Throws where a GPU has too little memory for a run: see gpu::check_passes.
template <class Real>
void check_gpu(const DistTensor<Real>& x, const AlsPlan& plan, Index num_components, int device);

// On a GPU; see gpu/als_passes.hpp. Every step must be a pass over a tree with the mode at its root.
template <class Real>
std::unique_ptr<AlsBackend<Real>> make_gpu_backend(const AlsData<Real>& data, int device);

}  // namespace polyad
