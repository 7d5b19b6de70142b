#include "polyad/algo/cp/evaluation_passes.hpp"

#include <algorithm>
#include <variant>

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/cp/csf_sweep.hpp"
#include "polyad/kernels/cp/mttkrp.hpp"

namespace polyad {

template <class Real>
EvaluationPasses<Real>::EvaluationPasses(const DistTensor<Real>& x, const AlsPlan& plan, Index num_columns)
    : x_(x), plan_(plan) {
  std::vector<Index> max_rows(std::size_t(x.order()));  // [level]
  for (const auto& step : plan_.steps) {
    auto& cuts = cuts_.emplace_back();
    if (step.kind == AlsStep::Kind::mttkrp) continue;
    cuts = kernels::cut_evenly(tree(step), num_threads(), num_columns);
    for (int level = 1; level < step.num_levels; ++level)
      max_rows[level] = std::max(max_rows[level], x.num_rows(tree(step).modes()[level]));
  }
  for (int level = 1; level < x.order(); ++level)
    parts_.emplace_back(num_threads() - 1, max_rows[level], num_columns);
}

// Where a mode has a tensor of its own, that has one tree.
template <class Real>
const CsfTree<Real>& EvaluationPasses<Real>::tree(const AlsStep& step) const {
  const auto& trees = std::get<CsfTensor<Real>>(x_.local(step.mode)).trees;
  return trees[trees.size() == 1 ? 0 : step.tree];
}

template <class Real>
std::vector<int> EvaluationPasses<Real>::modes_of(std::size_t step) const {
  const auto& of_step = plan_.steps[step];
  if (of_step.kind == AlsStep::Kind::mttkrp) return {of_step.mode};
  const auto& modes = tree(of_step).modes();
  return {modes.begin(), modes.begin() + of_step.num_levels};
}

template <class Real>
void EvaluationPasses<Real>::run(std::size_t step, const std::vector<Matrix<Real>>& factors,
                                 std::vector<Matrix<Real>>& m) {
  const auto& of_step = plan_.steps[step];
  if (of_step.kind == AlsStep::Kind::mttkrp)
    return kernels::mttkrp<Real>(x_.local(of_step.mode), factors, of_step.mode, m[of_step.mode]);
  std::vector<Matrix<Real>*> of_levels;
  for (const int mode : modes_of(step)) of_levels.push_back(&m[mode]);
  kernels::top_mttkrps<Real>({tree(of_step), cuts_[step]}, factors, of_levels, parts_);
}

template class EvaluationPasses<float>;
template class EvaluationPasses<double>;

}  // namespace polyad
