#pragma once

#include <list>
#include <map>

#include "polyad/dense/contract_tensors.hpp"

namespace polyad::dense {

// A sum of several contractions. Redistributed copies of inputs are kept, and
// each term starts from the copies that make it cheapest: a tensor in several
// terms is redistributed less often. The copies exist as long as this object.
template <class Real>
class ContractionTerms {
 public:
  explicit ContractionTerms(DenseMachine machine = {}) : machine_(machine) {}

  // C += A B. Inputs are identified by address: they must neither
  // move nor change while this object exists. Collective.
  void add(const IndexedResult<Real>& c, const IndexedProduct<Real>& product);

  const DenseTally& tally() const { return tally_; }
  Index num_copies() const;

 private:
  using Copies = std::list<DenseTensor<Real>>;  // a list, so that addresses remain valid

  std::vector<const DenseTensor<Real>*> versions(const DenseTensor<Real>& tensor) const;
  const DenseTensor<Real>& prepared(const DenseTensor<Real>& original, const DenseTensor<Real>& version,
                                    const InputPlan& plan);

  DenseMachine machine_;
  std::map<const DenseTensor<Real>*, Copies> copies_;
  DenseTally tally_;
};

}  // namespace polyad::dense
