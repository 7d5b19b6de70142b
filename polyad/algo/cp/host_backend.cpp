#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "polyad/algo/cp/als_backend.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/kernels/cp/csf_sweep.hpp"
#include "polyad/kernels/cp/mttkrp.hpp"

namespace polyad {
namespace {

template <class Real>
class HostBackend final : public AlsBackend<Real> {
 public:
  explicit HostBackend(const AlsData<Real>& data) : data_(data) {
    cut_trees();
    parts_ = kernels::PartialRows<Real>(num_threads(), scattered_rows(), data.num_components());
  }

  void begin(const AlsStep& step, int mode) override {
    if (step.kind == AlsStep::Kind::mttkrp && !x().folds(mode)) {
      whole_ = Matrix<Real>(x().num_rows(mode), data_.num_components());
      multiply(mode, whole_);
    }
    if (step.kind == AlsStep::Kind::scatter) scatter(step, mode, cuts(step).all);
    // Its own rows that are complete were added when they were solved.
    if (is_next(step, mode) && x().folds(step.mode)) add_shared_to_next(step, mode);
  }

  void sum_shared(const AlsStep& step, int mode) override {
    if (step.kind == AlsStep::Kind::mttkrp) return multiply(mode, data_.partial);
    data_.timings.measure("mttkrp", [&] {
      if (is_by_root(step, mode))
        kernels::root_mttkrp<Real>({data_.tree(step), cuts(step).shared}, data_.factors, data_.partial,
                                   first(mode), step.keeps_sums ? &kept_sums_ : nullptr);
      else
        add_up(parts_, data_.partial, first(mode));
    });
  }

  kernels::RowSums update_complete(const AlsStep& step, int mode, const kernels::RowSystem& system) override {
    if (is_by_root(step, mode)) return update_by_root(step, system);
    const Index complete = x().num_complete(mode);
    return data_.timings.measure("solve", [&] {
      if (step.kind != AlsStep::Kind::mttkrp)
        return update_rows(parts_, system, data_.factors[mode], complete);
      auto sums =
          update_rows(x().folds(mode) ? data_.partial : whole_, system, data_.factors[mode], {0, complete});
      whole_ = {};
      return sums;
    });
  }

  kernels::RowSums update_shared(int mode, const kernels::RowSystem& system) override {
    const kernels::RowRange shared{x().num_complete(mode), x().num_solved(mode), first(mode)};
    return data_.timings.measure(
        "solve", [&] { return update_rows_in_both(data_.partial, system, data_.factors[mode], shared); });
  }

  SharedArray<Real> make_message_buffer() override {
    const auto sent = sent_rows(data_.num_wanted, data_.num_components());
    return SharedArray<Real>(x().comm(), num_message_words(x(), data_.num_wanted, sent));
  }
  Index device_bytes() const override { return 0; }
  RowPlace<Real>* rows(int) override { return nullptr; }
  void fetch_rows(int) override {}
  void put_rows(int) override {}

 private:
  const DistTensor<Real>& x() const { return data_.x; }
  Index first(int mode) const { return data_.first_partial[mode]; }
  static bool is_next(const AlsStep& step, int mode) {
    return step.kind == AlsStep::Kind::root_and_next && mode != step.mode;
  }
  static bool is_by_root(const AlsStep& step, int mode) {
    return (step.kind == AlsStep::Kind::root || step.kind == AlsStep::Kind::root_and_next) &&
           mode == step.mode;
  }

  // How threads share a tree: all of it where rows are scattered; where its root's rows are solved, the
  // slices of those that are complete, and the others.
  struct TreeCuts {
    std::vector<Index> all, complete, shared;
  };
  const TreeCuts& cuts(const AlsStep& step) const { return cuts_.at(&data_.tree(step)); }

  void cut_trees() {
    for (const auto& step : data_.plan.steps) {
      if (step.kind == AlsStep::Kind::mttkrp) continue;
      const auto& of_step = data_.tree(step);
      auto& cuts = cuts_[&of_step];
      const auto cut = [&](Index first_row, Index end_row) {
        return cut_evenly(of_step, kernels::nodes_of_rows(of_step, first_row, end_row), num_threads(),
                          data_.num_components());
      };
      const int root = of_step.modes()[0];
      if (step.kind == AlsStep::Kind::scatter) {
        cuts.all = cut(0, x().num_rows(root));
      } else {
        cuts.complete = cut(0, x().num_complete(root));
        cuts.shared = cut(x().num_complete(root), x().num_rows(root));
      }
    }
  }

  // The most rows of a mode whose MTTKRP is added up from parts.
  Index scattered_rows() const {
    Index maximum = 0;
    for (const auto& step : data_.plan.steps) {
      if (step.kind == AlsStep::Kind::scatter) maximum = std::max(maximum, x().num_rows(step.mode));
      if (step.kind == AlsStep::Kind::root_and_next)
        maximum = std::max(maximum, x().num_rows(data_.tree(step).modes()[1]));
    }
    return maximum;
  }

  void multiply(int mode, Matrix<Real>& m) {
    data_.timings.measure("mttkrp", [&] { kernels::mttkrp<Real>(x().local(mode), data_.factors, mode, m); });
  }

  // Adds the MTTKRP of a mode below the root to the parts.
  void scatter(const AlsStep& step, int mode, const std::vector<Index>& cuts) {
    data_.timings.measure("mttkrp", [&] {
      const auto& tree = data_.tree(step);
      kernels::scatter_mttkrp<Real>({tree, cuts}, data_.factors, tree.level_of(mode), parts_);
    });
  }

  // The new rows of the step's own mode are known by now.
  void add_shared_to_next(const AlsStep& step, int mode) {
    if (!step.keeps_sums) return scatter(step, mode, cuts(step).shared);
    data_.timings.measure("mttkrp", [&] {
      kernels::scatter_kept_sums<Real>({data_.tree(step), cuts(step).shared}, data_.factors[step.mode],
                                       kept_sums_, parts_);
    });
  }

  // Complete rows are solved in place, and add to the next mode, if it is to be made.
  kernels::RowSums update_by_root(const AlsStep& step, const kernels::RowSystem& system) {
    const kernels::CutTree<Real> complete{data_.tree(step), cuts(step).complete};
    assert(complete.num_slices() == x().num_complete(step.mode));  // else a row would keep its old values
    auto* next = step.kind == AlsStep::Kind::root_and_next ? &parts_ : nullptr;
    return data_.timings.measure(
        "mttkrp", [&] { return kernels::update_root<Real>(complete, data_.factors, system, next); });
  }

  AlsData<Real> data_;
  std::map<const CsfTree<Real>*, TreeCuts> cuts_;
  kernels::PartialRows<Real> parts_;
  Array<Real> kept_sums_;  // below the nodes of slices that others have parts of; see AlsStep
  Matrix<Real> whole_;     // the MTTKRP of the mode under way, where no rows are shared
};

}  // namespace

template <class Real>
std::unique_ptr<AlsBackend<Real>> make_host_backend(const AlsData<Real>& data) {
  return std::make_unique<HostBackend<Real>>(data);
}

template std::unique_ptr<AlsBackend<float>> make_host_backend(const AlsData<float>&);
template std::unique_ptr<AlsBackend<double>> make_host_backend(const AlsData<double>&);

}  // namespace polyad
