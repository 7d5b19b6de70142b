#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "polyad/algo/analysis/large_residual.hpp"
#include "polyad/base/array.hpp"
#include "polyad/kernels/analysis/kruskal_values.hpp"
#include "polyad/kernels/analysis/residual_sums.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"

namespace polyad {

struct PredictorOptions {
  bool has_values = false;     // whether there are values to compare with
  bool contributions = false;  // whether to compute the contribution of each component
  Index num_largest = 5;       // number of largest residuals to report
  RatingRange range = {};      // to which predictions are clipped
  // Coordinates may lie beyond the model, which has two modes and is one of ratings with biases, in two last
  // components. Its mean: these are predicted by it and the bias of the side that is known.
  std::optional<double> mean = {};
};

// Predictions at a batch of coordinates; residuals and contributions if requested.
struct PredictedBatch {
  Array<double> predictions, residuals;  // a residual is the value minus the prediction
  Matrix<double> contributions;          // (coordinate, component)
};

// Difference between a model and the values at coordinates.
struct PredictionSummary {
  Index num_coordinates = 0;
  bool has_values = false;
  Index num_estimated = 0;  // predicted although the user or the item is not in the model
  Index num_clipped = 0;
  kernels::Magnitudes values, residuals;
  std::vector<LargeResidual> largest;  // by magnitude, descending; of equal ones the first

  // |residuals| / |values|; nothing if it is undefined, because all values are zero and the model is not.
  std::optional<double> relative_error() const;
};

// Evaluates a model at coordinates that are passed in batches, and accumulates a summary.
template <class Real>
class Predictor {
 public:
  Predictor(const Kruskal<Real>& model, const PredictorOptions& options);

  // Number of coordinates of a batch of moderate size.
  Index batch_size() const;
  // Coordinates must lie within the model, unless the options have a mean; `values` is empty if there are
  // none. The result is valid until the next call. Throws Error{bad_input} if a prediction or residual
  // exceeds double precision.
  const PredictedBatch& predict(kernels::Coordinates coordinates, std::span<const double> values);
  const PredictionSummary& summary() const { return summary_; }

 private:
  void evaluate(kernels::Coordinates coordinates);
  // Of a coordinate beyond the model: what its last two components add, of which the others add nothing.
  std::array<double, 2> biases_at(kernels::Coordinates coordinates, Index z) const;
  void estimate_unknown(kernels::Coordinates coordinates);
  bool is_inside(kernels::Coordinates coordinates, Index z) const;
  void clip();
  void remember_largest(kernels::Coordinates coordinates, std::span<const double> values);

  const Kruskal<Real>& model_;
  PredictorOptions options_;
  PredictedBatch batch_;
  PredictionSummary summary_;
};

}  // namespace polyad
