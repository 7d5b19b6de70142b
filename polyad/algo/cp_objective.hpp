#pragma once

#include <cstdint>
#include <vector>

#include "polyad/base/timings.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/distributed/row_exchange.hpp"
#include "polyad/kernels/cp/factor_vectors.hpp"

namespace polyad {

// f at a place, and how it goes on.
struct Evaluation {
  double value = 0;
  double slope = 0;             // the inner product of gradient and direction
  double squared_gradient = 0;  // its norm
  double squared_factors = 0;   // the squared norm of the place, a vector as long as all factors together
  double rounding = 0;          // by about so much may the value be wrong
};

// f = 1/2 |X/|X| - model|^2 over the factors of all modes at once, whose components have no weights. The
// tensor is taken relative to its norm, so that numbers have the same size for every tensor: (1 - fit)^2 = 2
// f. The zero tensor stays what it is. f comes from the Gram matrices and the last MTTKRP, and the gradient
// of mode n is A_n V_n - M_n/|X| with V_n the Hadamard product of the other modes' Gram matrices: one pass
// over the nonzeros per mode, no more.
template <class Real>
class CpObjective {
 public:
  CpObjective(const DistTensor<Real>& x, Index num_components);
  CpObjective(const CpObjective&) = delete;
  CpObjective& operator=(const CpObjective&) = delete;

  // Puts a first model in place. The random numbers that cp_als starts with are multiplied with the tensor
  // once per mode, mode after mode, as in a power iteration; then columns have one length in all modes and
  // components, such that the norm of the model is that of the tensor. Random numbers alone have hardly
  // anything in common with a sparse tensor, and the way down from them leads near zero first, where the
  // gradient vanishes. Counts as an evaluation, for it exchanges as much. Collective.
  void start(std::uint64_t seed);

  // The rows that this process owns: where f is evaluated, and the gradient there.
  const kernels::FactorVector<Real>& factors() const { return factor_rows_; }
  const kernels::FactorVector<Real>& gradient() const { return gradient_rows_; }
  const std::vector<Index>& num_owned() const { return num_owned_; }
  Index num_cols() const { return num_columns_; }  // with padding, whose entries are zero

  // Collective.
  Evaluation evaluate(const kernels::FactorVector<Real>& direction);

  int num_evaluations() const { return num_evaluations_; }
  Traffic sent() const;  // by all evaluations
  const Timings& timings() const { return timings_; }

  // The model at the last evaluation. Collective.
  Kruskal<Real> take_model() &&;

 private:
  void update_grams();
  void multiply(int mode);
  void turn_towards_tensor(int mode);
  double find_gradient(int mode);
  Evaluation add_up(double inner, const kernels::FactorVector<Real>& direction);

  const DistTensor<Real>& x_;
  Index num_components_, num_columns_;
  std::vector<Index> num_owned_;        // [mode]
  std::vector<Matrix<Real>> factors_;   // [mode]
  std::vector<Matrix<Real>> gradient_;  // [mode]: first the MTTKRP
  std::vector<Matrix<double>> grams_;   // [mode]: of the whole
  kernels::FactorVector<Real> factor_rows_, gradient_rows_;
  std::vector<RowExchange<Real>> exchanges_;  // [mode]
  int num_evaluations_ = 0;
  Timings timings_;
};

}  // namespace polyad
