#include "polyad/algo/analysis/held_out_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "polyad/algo/cp/singular_start.hpp"
#include "polyad/kernels/analysis/distances.hpp"
#include "polyad/kernels/analysis/kruskal_values.hpp"

namespace polyad {
namespace {

// A round is long enough that replacing the guesses costs little beside it.
constexpr int iterations_per_round = 5;
// Guesses go further than where the model says, and further each time while that makes the fit better
// (adaptive overrelaxation: Salakhutdinov and Roweis, 2003): a cell that decides much of a component moves
// slowly else.
constexpr double step_growth = 1.5, longest_step = 16;
// Guesses have settled when a round moves them by less, relative to their norm.
constexpr double settled_change = 1e-3;

// From the fit to the tensor with guesses, which the model left by `moved`.
template <class Real>
double known_fit(double fit, const DistTensor<Real>& x, const HeldOut& held_out, double moved) {
  const double residual = (1 - fit) * x.norm() / held_out.value_scale;
  const double known = std::max(0.0, residual * residual - moved * moved);
  return held_out.known_squared_norm > 0 ? 1 - std::sqrt(known / held_out.known_squared_norm) : 1;
}

// The first round is a decomposition of its own, of up to half of all iterations; those that follow are
// short.
CpAlsOptions round_options(const CpAlsOptions& options, int iterations_done) {
  auto round = options;
  const int rest = options.max_iterations - iterations_done;
  round.max_iterations = iterations_done == 0 ? (rest + 1) / 2 : std::min(iterations_per_round, rest);
  if (iterations_done > 0) round.tolerance = 0;
  return round;
}

}  // namespace

template <class Real>
void TrainingTensor<Real>::prepare(const CpRunOptions& options, Progress& progress) {
  const int builds_before = num_builds();
  preparer_.prepare(options, progress);
  if (num_builds() > builds_before) places_.emplace(tensor().local(0), held_out_.cells);
}

template <class Real>
void TrainingTensor<Real>::set_guesses(std::span<const double> guesses) {
  auto& tensor = preparer_.prepared().tensor;
  const double unit = held_out_.value_scale / tensor.value_scale();
  tensor.set_values([&](LocalTensor<Real>& local) { places_->assign(local, guesses, unit); },
                    (held_out_.known_squared_norm + squared_norm(guesses)) * unit * unit);
}

template <class Real>
HeldOutFit<Real> fit_around(TrainingTensor<Real>& x, Array<double> guesses, const CpAlsOptions& options,
                            const CpObserver& observe) {
  HeldOutFit<Real> fit;
  const auto& held_out = x.held_out();
  double step = 1;
  std::optional<Kruskal<Real>> first;
  for (bool is_settled = false; fit.iterations < options.max_iterations && !is_settled;) {
    const bool is_first = fit.iterations == 0;
    x.set_guesses(guesses);
    if (is_first && options.start == Start::svd)
      first = singular_start<Real>(x.tensor(), x.plan(), {.als = options});
    auto result = cp_als<Real>(x.tensor(), x.plan(), round_options(options, fit.iterations), observe,
                               is_first ? (first ? &*first : nullptr) : &fit.model);
    fit.iterations += result.iterations();
    fit.model = std::move(result.model);
    fit.predicted = kernels::values_at(fit.model, held_out.cells, held_out.value_scale);
    const double moved = kernels::distance(fit.predicted, guesses);
    const double fit_before =
        std::exchange(fit.known_fit, known_fit(result.fit(), x.tensor(), held_out, moved));
    is_settled = result.stop == StopReason::observer ||
                 (kernels::relative_distance(fit.predicted, guesses) < settled_change &&
                  std::abs(fit.known_fit - fit_before) <
                      iterations_per_round * options.tolerance * std::abs(fit.known_fit));
    step = !is_first && fit.known_fit > fit_before ? std::min(step * step_growth, longest_step) : 1;
    kernels::move_towards(guesses, fit.predicted, step);
  }
  fit.error = kernels::relative_distance(fit.predicted, held_out.cells.values());
  return fit;
}

Array<double> first_guesses(const HeldOut& held_out) {
  return Array<double>(held_out.cells.values().size(), held_out.known_mean);
}

template class TrainingTensor<float>;
template class TrainingTensor<double>;
template HeldOutFit<float> fit_around(TrainingTensor<float>&, Array<double>, const CpAlsOptions&,
                                      const CpObserver&);
template HeldOutFit<double> fit_around(TrainingTensor<double>&, Array<double>, const CpAlsOptions&,
                                       const CpObserver&);

}  // namespace polyad
