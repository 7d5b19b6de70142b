#pragma once

#include <vector>

#include "polyad/algo/cp/cp_state.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/kernels/cp/factor_vectors.hpp"

namespace polyad {

// The direction -H g of limited-memory BFGS by the two-loop recursion, as coefficients of vectors.
// `products` are their inner products: of the steps s_1 ... s_k, oldest first, the corresponding
// changes y_1 ... y_k of the gradient, and the gradient g. All s_i y_i must be positive.
std::vector<double> lbfgs_direction(const Matrix<double>& products);

// The last steps of a minimisation and the changes of the gradient along them. The vectors
// are distributed: each process has its own rows, and only inner products are communicated,
// all of an iteration in one all-reduce. The two loops therefore work on coefficients.
template <class Real>
class LbfgsMemory {
 public:
  LbfgsMemory(Comm comm, int max_pairs, std::vector<Index> num_rows, Index num_cols);

  bool is_empty() const { return order_.empty(); }
  void clear() { order_.clear(); }

  // Stores a step along a direction and the gradients at its ends, in place of the oldest step.
  void add(double step, const kernels::FactorVector<Real>& direction,
           const kernels::FactorVector<Real>& gradient_before,
           const kernels::FactorVector<Real>& gradient_after);

  // Computes a descent direction and returns its inner product with the gradient: steepest
  // descent if there are no steps, or if they give no descent and are dropped. Collective.
  double find_direction(const kernels::FactorVector<Real>& gradient,
                        const kernels::FactorVector<Real>& direction);

  // Adds the pairs to a state; or takes over its numbers, and lists the vectors that are to be filled.
  void save(CpState<Real>& state) const;
  void restore(StateNumbers& numbers, std::vector<kernels::FactorVector<Real>>& vectors);

 private:
  // Vectors are numbered: the i-th s is i, its y is max_pairs_ + i, the gradient is the last.
  int gradient_number() const { return 2 * max_pairs_; }
  std::vector<int> numbers_in_order() const;  // all s, all y, the gradient
  void add_pairs_to(std::vector<kernels::FactorVector<Real>>& vectors) const;
  void update_products(const kernels::FactorVector<Real>& gradient);

  Comm comm_;
  int max_pairs_;
  std::vector<std::vector<Matrix<Real>>> storage_;    // [number]
  std::vector<kernels::FactorVector<Real>> vectors_;  // [number]
  std::vector<int> order_;                            // pairs, oldest first
  bool has_new_pair_ = false;                         // the last of them, whose products are not known yet
  Matrix<double> products_;                           // (number, number)
};

}  // namespace polyad
