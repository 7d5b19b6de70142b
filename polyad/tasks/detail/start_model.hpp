#pragma once

#include <memory>
#include <vector>

#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tensor/kruskal.hpp"

namespace polyad::tasks {

// The model that a decomposition starts from. Components of weight zero are left out; the mean and biases of
// a model are no components where the decomposition has biases too.
class StartModel {
 public:
  // Takes all of options.start_model on this process. Throws Error{bad_option} unless it is of the tensor's
  // dims and labels, has at most options.rank components, and leaves something to several random starts if
  // there are to be any. Collective.
  StartModel(const Context& context, const DecomposeOptions& options, const Tensor& x);

  // Of all of its factors.
  Index bytes() const;

  // The rows that this process owns, with columns of 2-norm 1 and positive weights.
  template <class Real>
  Kruskal<Real> rows_of(const DistTensor<Real>& x) const;
  // [mode][row that this process owns]: its biases. Empty: it has none, or they are not wanted.
  template <class Real>
  std::vector<std::vector<double>> biases_of(const DistTensor<Real>& x) const;

 private:
  std::shared_ptr<const Kruskal<double>> model_;
  std::vector<std::vector<double>> biases_;  // [mode][row]; or empty
  std::vector<Index> kept_;                  // components
  std::vector<double> weights_;              // [kept component]
  std::vector<std::vector<double>> scales_;  // [mode][kept component]: of a column
};

}  // namespace polyad::tasks
