#include "polyad/algo/cp/cp_result.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
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

// Runs the method again up to an iteration that it has been through, or until a signal asks it to stop.
template <class Real>
void return_to(CpResult<Real>& result, const CpMethod<Real>& method, int iteration) {
  const Stopwatch watch;
  method.begin();
  bool is_stopped = false;
  for (int i = 0; i < iteration && !is_stopped; ++i) {
    const auto now = method.iterate();
    result.fit_trajectory[i] = now.fit;
    result.model_iteration = i + 1;
    is_stopped = now.asked.stops > 0 && i + 1 < iteration;
  }
  if (is_stopped) result.stop = StopReason::interrupted;
  result.timings.add("iterate", watch.seconds());
}

// What is known of the iterations so far.
template <class Real>
struct Course {
  CpResult<Real>& result;
  double rounding = 0;   // the largest so far
  bool is_last = false;  // of the last iteration

  double fit() const { return result.fit_trajectory.back(); }
  double change() const {
    return result.iterations() > 1 ? fit() - result.fit_trajectory[result.fit_trajectory.size() - 2] : fit();
  }
  bool has_converged(double tolerance) const {
    return is_last || (result.iterations() > 1 && has_settled(fit(), change(), tolerance));
  }

  void add(const Iteration& iteration, double seconds) {
    result.iteration_seconds.push_back(seconds);
    result.timings.add("iterate", seconds);
    rounding = std::max(rounding, iteration.rounding);
    is_last = iteration.is_last;
    result.fit_trajectory.push_back(iteration.fit);
    result.model_iteration = result.iterations();
  }

  void save(StateNumbers& numbers) const {
    numbers.put(rounding);
    numbers.put(double(is_last));
    numbers.put_list(result.fit_trajectory);
    numbers.put_list(result.iteration_seconds);
  }
  void restore(StateNumbers& numbers) {
    rounding = numbers.take();
    is_last = numbers.take() != 0;
    result.fit_trajectory = numbers.take_list();
    result.iteration_seconds = numbers.take_list();
    result.model_iteration = result.iterations();
  }
};

}  // namespace

template <class Real>
void iterate(CpResult<Real>& result, const CpOptions& options, const CpObserver& observe,
             const CpMethod<Real>& method, const CpControl<Real>& control) {
  Course<Real> course{result};
  if (control.from != nullptr) {
    course.restore(control.from->numbers);
    method.restore(*control.from);
  }
  bool has_converged = result.iterations() > 0 && course.has_converged(options.tolerance);
  bool goes_on = true;
  std::optional<StopReason> cut_short;
  while (!has_converged && goes_on && !cut_short && result.iterations() < options.max_iterations) {
    const Stopwatch watch;
    const auto iteration = method.iterate();
    course.add(iteration, watch.seconds());
    goes_on = !observe || observe({result.iterations(), course.fit(), course.change()});
    has_converged = course.has_converged(options.tolerance);
    if (!control.pause) continue;
    const bool is_end = !goes_on || has_converged || result.iterations() == options.max_iterations;
    const auto save = [&](CpState<Real>& state) {
      course.save(state.numbers);
      method.save(state);
    };
    const auto asked = control.pause({result.iterations(), course.fit(), is_end, save, iteration.asked});
    if (!is_end) cut_short = asked;
  }
  if (!goes_on)
    result.stop = StopReason::observer;
  else if (has_converged)
    result.stop = StopReason::converged;
  else if (cut_short)
    result.stop = *cut_short;
  if (result.fit_trajectory.empty() || cut_short) return;
  const auto best = std::ranges::max_element(result.fit_trajectory);
  if (squared_residual(course.fit()) > squared_residual(*best) + course.rounding)
    return_to(result, method, int(best - result.fit_trajectory.begin()) + 1);
}

namespace {

Traffic total_of(const StagedTraffic& all) {
  Traffic sum;
  for (const auto& mode : all)
    for (const auto& stage : mode) sum += stage;
  return sum;
}

// Of one round. Collective.
std::vector<Communication::Stage> check_stages(const Comm& comm, const StagedTraffic& sent, int rounds,
                                               const StagedTraffic& planned) {
  std::vector<Communication::Stage> stages;
  std::vector<Index> counted, expected, messages;
  for (std::size_t m = 0; m < planned.size(); ++m)
    for (std::size_t s = 0; s < planned[m].size(); ++s) {
      stages.push_back({.mode = int(m), .stage = int(s)});
      counted.insert(counted.end(), {sent[m][s].words, sent[m][s].messages});
      expected.insert(expected.end(), {planned[m][s].words * rounds, planned[m][s].messages * rounds});
      messages.push_back(sent[m][s].messages / rounds);
    }
  if (stages.empty()) return stages;
  const bool is_as_planned = comm.all_reduce(std::int32_t(counted == expected ? 1 : 0), Reduce::min) == 1;
  if (!is_as_planned)
    throw Error(Errc::internal, "the processes sent other words or messages in a stage than they planned");
  comm.all_reduce(std::span(counted));
  comm.all_reduce(std::span(messages), Reduce::max);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    stages[i].words = counted[2 * i] / rounds;
    stages[i].messages = counted[2 * i + 1] / rounds;
    stages[i].max_messages = messages[i];
  }
  return stages;
}

}  // namespace

StagedTraffic operator-(StagedTraffic a, const StagedTraffic& b) {
  for (std::size_t m = 0; m < b.size(); ++m)
    for (std::size_t s = 0; s < b[m].size(); ++s) a[m][s] = a[m][s] - b[m][s];
  return a;
}

Communication check_traffic(const Comm& comm, const StagedTraffic& sent_by_stage, int rounds,
                            const PlannedTraffic& planned) {
  const Index predicted = planned.words;
  if (rounds == 0) return {.predicted_volume_words = predicted};
  const auto sent = total_of(sent_by_stage);
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
          sent.reduced_words / rounds,
          check_stages(comm, sent_by_stage, rounds, planned.stages)};
}

template double fit_from<float>(double);
template double fit_from<double>(double);
template void iterate(CpResult<float>&, const CpOptions&, const CpObserver&, const CpMethod<float>&,
                      const CpControl<float>&);
template void iterate(CpResult<double>&, const CpOptions&, const CpObserver&, const CpMethod<double>&,
                      const CpControl<double>&);

}  // namespace polyad
