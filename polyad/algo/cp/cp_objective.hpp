#pragma once

#include <optional>
#include <vector>

#include "polyad/algo/cp/cp_result.hpp"
#include "polyad/algo/cp/evaluation_passes.hpp"
#include "polyad/algo/run_state.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/distributed/routed_exchange.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/kernels/cp/factor_vectors.hpp"

namespace polyad {

// Value and derivatives of the objective f at one point.
struct Evaluation {
  double value = 0;
  double slope = 0;             // inner product of gradient and direction
  double squared_gradient = 0;  // squared norm of the gradient
  double squared_factors = 0;   // squared norm of the point, a vector of all factor entries
  double rounding = 0;          // estimated rounding error of the value
  RunRequests asked = {};
};

// f = 1/2 |X/|X| - model|^2 as a function of the factors of all modes, whose components have
// no weights. The tensor is scaled to norm 1, so that values have the same magnitude for every
// tensor: (1 - fit)^2 = 2 f. A zero tensor is not scaled. f follows from the Gram matrices and
// the last MTTKRP; the gradient of mode n is A_n V_n - M_n/|X|, where V_n is the elementwise
// product of the other Gram matrices. Since no factor changes during an evaluation, passes over the nonzeros
// serve several modes, as the plan says.
template <class Real>
class CpObjective {
 public:
  CpObjective(const DistTensor<Real>& x, const AlsPlan& plan, Index num_components, AskProcess ask = {});
  CpObjective(const CpObjective&) = delete;
  CpObjective& operator=(const CpObjective&) = delete;

  // Sets the initial model. The initial factors of cp_als are multiplied with the tensor
  // once per mode, as in a power iteration; then all columns are scaled to one length, such
  // that the norm of the model is that of the tensor. Random factors alone are nearly
  // orthogonal to a sparse tensor: descent from them first approaches zero, where the
  // gradient vanishes. The first components are those of `given`, if there is one, as in cp_als. Counts as an
  // evaluation, because it communicates as much. Collective.
  void start(const kernels::RandomStart& random, const Kruskal<Real>* given = nullptr);

  // The rows that this process owns: of the point where f is evaluated, and of the gradient there.
  const kernels::FactorVector<Real>& factors() const { return factor_rows_; }
  const kernels::FactorVector<Real>& gradient() const { return gradient_rows_; }
  const std::vector<Index>& num_owned() const { return num_owned_; }
  Index num_cols() const { return num_columns_; }  // with padding, whose entries are zero

  // Evaluates f and its gradient. Collective.
  Evaluation evaluate(const kernels::FactorVector<Real>& direction);

  int num_evaluations() const { return num_evaluations_; }
  StagedTraffic sent() const;  // in all evaluations
  const Timings& timings() const { return timings_; }

  // The model at the last evaluated point. Collective.
  Kruskal<Real> take_model() &&;

 private:
  void update_grams();
  void multiply(int mode);
  void turn_towards_tensor(int mode);
  void take_components(const Kruskal<Real>& given);
  double find_gradient(int mode, const kernels::RowRange& rows);
  Evaluation add_up(double inner, const kernels::FactorVector<Real>& direction);

  const DistTensor<Real>& x_;
  AskProcess ask_;
  Index num_components_, num_columns_;
  std::vector<Index> num_owned_;        // [mode]
  std::vector<Matrix<Real>> factors_;   // [mode]
  std::vector<Matrix<Real>> gradient_;  // [mode]: at first the MTTKRP
  std::vector<Matrix<double>> grams_;   // [mode]: over all processes
  AlsPlan plan_;
  std::optional<EvaluationPasses<Real>>
      passes_;  // from the first evaluation on: start() needs memory of its own
  kernels::FactorVector<Real> factor_rows_, gradient_rows_;
  std::vector<RoutedExchange<Real>> exchanges_;  // [mode]
  int num_evaluations_ = 0;
  Timings timings_;
};

}  // namespace polyad
