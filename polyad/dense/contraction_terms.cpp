#include "polyad/dense/contraction_terms.hpp"

#include <optional>
#include <utility>

namespace polyad::dense {
namespace {

// A term with the versions of its inputs that it starts from.
template <class Real>
struct Start {
  const DenseTensor<Real>* a;
  const DenseTensor<Real>* b;
  BlockedContraction plan;
};

}  // namespace

template <class Real>
Index ContractionTerms<Real>::num_copies() const {
  Index count = 0;
  for (const auto& [tensor, copies] : copies_) count += std::ssize(copies);
  return count;
}

template <class Real>
std::vector<const DenseTensor<Real>*> ContractionTerms<Real>::versions(
    const DenseTensor<Real>& tensor) const {
  std::vector<const DenseTensor<Real>*> all{&tensor};
  if (const auto found = copies_.find(&tensor); found != copies_.end())
    for (const auto& copy : found->second) all.push_back(&copy);
  return all;
}

// The version where the plan multiplies it, kept for later terms. One that is summed first is not the tensor
// any more, and is left to the contraction.
template <class Real>
const DenseTensor<Real>& ContractionTerms<Real>::prepared(const DenseTensor<Real>& original,
                                                          const DenseTensor<Real>& version,
                                                          const InputPlan& plan) {
  const bool is_summed = int(plan.indices.size()) != version.order();
  if (is_summed || plan.prep.steps.empty()) return version;
  return copies_[&original].emplace_back(redistribute(version, plan.prep, tally_));
}

template <class Real>
void ContractionTerms<Real>::add(const IndexedResult<Real>& c, const IndexedProduct<Real>& product) {
  const auto& [a, b] = product;
  auto problem = problem_of(c, product);
  const ContractionChoice choice{std::nullopt, std::nullopt, machine_};
  std::optional<Start<Real>> best;
  for (const auto* left : versions(a.tensor))
    for (const auto* right : versions(b.tensor)) {
      problem.a = left->distribution();
      problem.b = right->distribution();
      auto plan = choose_contraction(problem, choice);
      if (!best || predicted_seconds(plan, machine_) < predicted_seconds(best->plan, machine_))
        best = Start<Real>{left, right, std::move(plan)};
    }
  const auto& left = prepared(a.tensor, *best->a, best->plan.plan.a);
  const auto& right = prepared(b.tensor, *best->b, best->plan.plan.b);
  problem.a = left.distribution();
  problem.b = right.distribution();
  contract(c.result, left, right,
           {derive_contraction(problem, best->plan.plan.stationary, machine_), problem, "", 0}, tally_);
}

template class ContractionTerms<float>;
template class ContractionTerms<double>;

}  // namespace polyad::dense
