#pragma once

#include <optional>
#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/kernels/analysis/kruskal_values.hpp"
#include "polyad/kernels/analysis/residual_sums.hpp"

namespace polyad {

struct PredictOptions {
  bool has_values = false;     // there are values to compare with
  bool contributions = false;  // what each component adds is wanted
  Index num_largest = 5;       // residuals to remember
};

// What a model says of some coordinates; residuals and contributions where they were asked for.
struct PredictedBatch {
  Array<double> predictions, residuals;  // a residual is the value less the prediction
  Matrix<double> contributions;          // (coordinate, component)
};

struct LargeResidual {
  std::vector<Index> coordinate;
  double prediction = 0, value = 0, residual = 0;
};

// How far a model is from the values at some coordinates.
struct PredictionSummary {
  Index num_coordinates = 0;
  bool has_values = false;
  kernels::Magnitudes values, residuals;
  std::vector<LargeResidual> largest;  // by magnitude, descending; among equals the first of the file

  // |residuals| / |values|; nothing when it is no number, because all values are zero and the model is not.
  std::optional<double> relative_error() const;
};

// Evaluates a model at coordinates that come batch after batch, and keeps the summary of all.
template <class Real>
class Predictor {
 public:
  Predictor(const Kruskal<Real>& model, const PredictOptions& options);

  // How many coordinates make a batch that stays small.
  Index batch_size() const;
  // Coordinates lie within the model; `values` is empty when there are none. The result is valid until the
  // next call. Throws Error{bad_input} when a prediction or residual is beyond double precision.
  const PredictedBatch& predict(kernels::Coordinates coordinates, std::span<const double> values);
  const PredictionSummary& summary() const { return summary_; }

 private:
  void remember_largest(kernels::Coordinates coordinates, std::span<const double> values);

  const Kruskal<Real>& model_;
  PredictOptions options_;
  PredictedBatch batch_;
  PredictionSummary summary_;
};

}  // namespace polyad
