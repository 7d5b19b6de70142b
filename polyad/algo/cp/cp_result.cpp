#include "polyad/algo/cp/cp_result.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad {
namespace {

constexpr std::array starts{Start::automatic, Start::uniform, Start::normal, Start::svd};
constexpr std::array start_names{"auto", "uniform", "normal", "svd"};

}  // namespace

std::string to_string(Start start) {
  return start_names.at(std::size_t(start));
}

std::span<const Start> all_starts() {
  return starts;
}

template <class Real>
double fit_from(double squared_residual) {
  if (!std::isfinite(squared_residual))
    throw Error(Errc::bad_input, std::string("the numbers leave the range of ") +
                                     (sizeof(Real) == 4 ? "single" : "double") +
                                     " precision; scale the values of the tensor");
  return 1 - std::sqrt(std::max(0.0, squared_residual));
}

namespace {

// Where a model explains little, small changes are a large part of it: the change is compared with the fit.
// Below the last bit of the numbers that the fit is made of, it is rounding.
bool has_settled(double fit, double change, double tolerance) {
  constexpr double rounding = std::numeric_limits<double>::epsilon();
  return tolerance > 0 && std::abs(change) < std::max(tolerance * std::abs(fit), rounding);
}

double squared_residual(double fit) {
  return (1 - fit) * (1 - fit);
}

// Runs the method again up to an iteration that it has been through.
template <class Real>
void return_to(CpResult<Real>& result, const CpMethod& method, int iteration) {
  const Stopwatch watch;
  method.begin();
  for (int i = 0; i < iteration; ++i) result.fit_trajectory[i] = method.iterate().fit;
  result.model_iteration = iteration;
  result.timings.add("iterate", watch.seconds());
}

}  // namespace

template <class Real>
void iterate(CpResult<Real>& result, const CpOptions& options, const CpObserver& observe,
             const CpMethod& method) {
  double last_fit = 0, rounding = 0;
  while (result.iterations() < options.max_iterations) {
    const Stopwatch watch;
    const auto [fit, error, is_last] = method.iterate();
    result.iteration_seconds.push_back(watch.seconds());
    result.timings.add("iterate", result.iteration_seconds.back());
    const double change = fit - std::exchange(last_fit, fit);
    rounding = std::max(rounding, error);
    result.fit_trajectory.push_back(fit);
    result.model_iteration = result.iterations();
    if (observe && !observe({result.iterations(), fit, change})) {
      result.stop = StopReason::observer;
      break;
    }
    if (is_last || (result.iterations() > 1 && has_settled(fit, change, options.tolerance))) {
      result.stop = StopReason::converged;
      break;
    }
  }
  if (result.fit_trajectory.empty()) return;
  const auto best = std::ranges::max_element(result.fit_trajectory);
  if (squared_residual(last_fit) > squared_residual(*best) + rounding)
    return_to(result, method, int(best - result.fit_trajectory.begin()) + 1);
}

Communication check_traffic(const Comm& comm, const Traffic& sent, int rounds, Index predicted) {
  if (rounds == 0) return {.predicted_volume_words = predicted};
  const Index words = comm.all_reduce(sent.words);
  if (words != predicted * rounds)
    throw Error(Errc::internal,
                "the processes sent " + std::to_string(words) + " words in " + std::to_string(rounds) +
                    " rounds, but by their distribution it must be " + std::to_string(predicted * rounds));
  return {words / rounds,
          comm.all_reduce(sent.messages) / rounds,
          comm.all_reduce(sent.words, Reduce::max) / rounds,
          comm.all_reduce(sent.messages, Reduce::max) / rounds,
          predicted,
          sent.reduced_words / rounds};
}

template double fit_from<float>(double);
template double fit_from<double>(double);
template void iterate(CpResult<float>&, const CpOptions&, const CpObserver&, const CpMethod&);
template void iterate(CpResult<double>&, const CpOptions&, const CpObserver&, const CpMethod&);

}  // namespace polyad
