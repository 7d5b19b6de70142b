#pragma once

#include "polyad/algo/cp/run_cp.hpp"
#include "polyad/tensor/held_out.hpp"
#include "polyad/tensor/value_places.hpp"

namespace polyad {

// A tensor for decompositions that must not use some of its cells. These
// cells are entries whose values are imputed and replaced in place.
template <class Real>
class TrainingTensor {
 public:
  // Both arguments must outlive this object.
  TrainingTensor(const Comm& comm, const CompactTensor<double>& x, const HeldOut& held_out)
      : held_out_(held_out), preparer_(comm, [&] { return expand_without(x, held_out); }) {}

  // Must be called before the other functions, and again if options change: see TensorPreparer.
  void prepare(const CpRunOptions& options, Progress& progress);
  int num_builds() const { return preparer_.num_builds(); }

  // In the units of the held-out values.
  void set_guesses(std::span<const double> guesses);

  const DistTensor<Real>& tensor() const { return preparer_.prepared().tensor; }
  const AlsPlan& plan() const { return preparer_.prepared().chosen.plan; }
  const HeldOut& held_out() const { return held_out_; }

 private:
  const HeldOut& held_out_;
  TensorPreparer<Real> preparer_;
  std::optional<ValuePlaces<Real>> places_;
};

template <class Real>
struct HeldOutFit {
  Kruskal<Real> model;
  Array<double> predicted;  // predictions for the held-out cells, in the units of their values
  double error = 0;         // |values - model| / |values| over the held-out cells
  double known_fit = 0;     // 1 - |values - model| / |values| over all others; used to compare starts
  int iterations = 0;
};

// Fits a model to all cells except those held out, and measures how well it predicts them. Held-out
// cells are treated as missing by expectation-maximisation: decompose the tensor with imputed values,
// replace these by the predictions of the model, continue from there for a few iterations, until imputed
// values and fit settle. Good first values help, such as those of fewer components, because components
// tend to describe wrong ones. True values only determine the error, and must not all be zero. The
// iteration limit applies to all rounds together. Leaves the last imputed values in the tensor.
template <class Real>
HeldOutFit<Real> fit_around(TrainingTensor<Real>& x, Array<double> guesses, const CpAlsOptions& options,
                            const CpObserver& observe = {});
// The mean of the other cells, as first values for all.
Array<double> first_guesses(const HeldOut& held_out);

}  // namespace polyad
