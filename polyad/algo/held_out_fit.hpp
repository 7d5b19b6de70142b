#pragma once

#include "polyad/algo/run_cp.hpp"
#include "polyad/tensor/held_out.hpp"
#include "polyad/tensor/value_places.hpp"

namespace polyad {

// A tensor for iterations that are not to see some of its cells. These are entries like others, but their
// values are guesses that are replaced in place.
template <class Real>
class TrainingTensor {
 public:
  // Both must stay where they are.
  TrainingTensor(const Comm& comm, const CompactTensor<double>& x, const HeldOut& held_out)
      : held_out_(held_out), preparer_(comm, [&] { return expand_without(x, held_out); }) {}

  // Must come before all that follows, and again for other options: see TensorPreparer.
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
  Array<double> predicted;  // what it says of the held-out cells, in the units of their values
  double error = 0;         // |values - model| / |values| over the held-out cells
  double known_fit =
      0;  // 1 - |values - model| / |values| over all others: tells a good start from a poor one
  int iterations = 0;
};

// Fits a model to all cells but those held out, and says how well it predicts these. They count as missing,
// by expectation and maximisation: decompose the tensor with guesses, replace these by what the model says,
// go on from there for a few iterations, and so on until the guesses and the fit settle. First guesses that
// are near help, such as those of fewer components: components tend to describe guesses that are far off. The
// true values decide nothing but the error, and must not all be zero. The iteration limit holds for all
// rounds together. Leaves its last guesses in the tensor.
template <class Real>
HeldOutFit<Real> fit_around(TrainingTensor<Real>& x, Array<double> guesses, const CpAlsOptions& options,
                            const CpObserver& observe = {});
// The mean of the other cells, for all: where nothing is known.
Array<double> first_guesses(const HeldOut& held_out);

}  // namespace polyad
