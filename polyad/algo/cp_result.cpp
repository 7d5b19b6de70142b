#include "polyad/algo/cp_result.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad {

template <class Real>
double fit_from(double squared_residual) {
  if (!std::isfinite(squared_residual))
    throw Error(Errc::bad_input, std::string("the numbers leave the range of ") +
                                     (sizeof(Real) == 4 ? "single" : "double") +
                                     " precision; scale the values of the tensor");
  return 1 - std::sqrt(std::max(0.0, squared_residual));
}

template <class Real>
void iterate(CpResult<Real>& result, const CpOptions& options, const CpObserver& observe,
             const std::function<Iteration()>& once) {
  double last_fit = 0;
  while (result.iterations() < options.max_iterations) {
    const Stopwatch watch;
    const auto [fit, is_last] = once();
    result.iteration_seconds.push_back(watch.seconds());
    result.timings.add("iterate", result.iteration_seconds.back());
    const double change = fit - std::exchange(last_fit, fit);
    result.fit_trajectory.push_back(fit);
    if (observe && !observe({result.iterations(), fit, change})) {
      result.stop = StopReason::observer;
      break;
    }
    if (is_last || (result.iterations() > 1 && std::abs(change) < options.tolerance)) {
      result.stop = StopReason::converged;
      break;
    }
  }
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
template void iterate(CpResult<float>&, const CpOptions&, const CpObserver&,
                      const std::function<Iteration()>&);
template void iterate(CpResult<double>&, const CpOptions&, const CpObserver&,
                      const std::function<Iteration()>&);

}  // namespace polyad
