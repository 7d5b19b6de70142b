#pragma once

#include <list>
#include <map>

#include "polyad/dense/contract_tensors.hpp"

namespace polyad::dense {

// Sums of contractions as chemistry writes them, term after term. What an input was moved to for one term is
// kept, and each term starts from the copies that make it cheapest: a tensor that stands in several terms is
// moved less often than by itself in each. The copies live as long as this does.
template <class Real>
class ContractionTerms {
 public:
  explicit ContractionTerms(DenseMachine machine = {}) : machine_(machine) {}

  // C += A B. Inputs are known by where they are: they must neither move nor change as long as this lives.
  // Collective.
  void add(const IndexedResult<Real>& c, const IndexedProduct<Real>& product);

  const DenseTally& tally() const { return tally_; }
  Index num_copies() const;

 private:
  using Copies = std::list<DenseTensor<Real>>;  // a list, so that copies stay where they are

  std::vector<const DenseTensor<Real>*> versions(const DenseTensor<Real>& tensor) const;
  const DenseTensor<Real>& prepared(const DenseTensor<Real>& original, const DenseTensor<Real>& version,
                                    const InputPlan& plan);

  DenseMachine machine_;
  std::map<const DenseTensor<Real>*, Copies> copies_;
  DenseTally tally_;
};

}  // namespace polyad::dense
