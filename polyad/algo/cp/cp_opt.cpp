#include "polyad/algo/cp/cp_opt.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "polyad/algo/cp/cp_objective.hpp"
#include "polyad/algo/cp/lbfgs.hpp"
#include "polyad/algo/cp/line_search.hpp"
#include "polyad/algo/cp/random_start.hpp"

namespace polyad {
namespace {

// The state of one run: where it is, x, and the gradient g there. The objective holds the place that is
// tried.
template <class Real>
class CpOpt {
 public:
  CpOpt(const DistTensor<Real>& x, const AlsPlan& plan, const CpOptions& options, const Kruskal<Real>* start,
        const AskProcess& ask)
      : num_wanted_(options.num_components),
        objective_(x, plan, options.num_components, ask),
        memory_(x.comm(), num_lbfgs_pairs, objective_.num_owned(), objective_.num_cols()) {
    objective_.start(random_start(options, false), start);
    for (int m = 0; m < x.order(); ++m)
      for (auto* matrices : {&place_, &gradient_, &direction_})
        matrices->emplace_back(x.num_owned(m), objective_.num_cols());
    at_ = view(place_);
    g_ = view(gradient_);
    d_ = view(direction_);
  }

  Iteration iterate() {
    if (!has_begun_) settle(objective_.evaluate(objective_.gradient()));
    has_begun_ = true;
    if (is_stationary()) return ended();
    if (descend()) return now();
    memory_.clear();  // it may have led astray: once more, straight down
    if (descend()) return now();
    go_back();
    return ended();
  }

  void save(CpState<Real>& state) {
    auto& numbers = state.numbers;
    for (const double number : {now_.value, now_.slope, now_.squared_gradient, now_.squared_factors,
                                now_.rounding, minimum_, double(num_evaluations())})
      numbers.put(number);
    state.vectors = {at_, g_};
    memory_.save(state);
    state.num_columns = num_wanted_;
  }
  // The objective holds the model at its last place: it is evaluated there once more.
  void restore(CpRestart<Real>& from) {
    auto& numbers = from.numbers;
    for (double* number :
         {&now_.value, &now_.slope, &now_.squared_gradient, &now_.squared_factors, &now_.rounding, &minimum_})
      *number = numbers.take();
    const int evaluations = numbers.take_int();
    std::vector<kernels::FactorVector<Real>> vectors{at_, g_};
    memory_.restore(numbers, vectors);
    from.fill(vectors, num_wanted_);
    copy(at_, objective_.factors());
    objective_.evaluate(objective_.gradient());
    has_begun_ = true;
    evaluations_before_ = evaluations - objective_.num_evaluations();
  }
  // Those before an interruption included; without the one that a restart takes.
  int num_evaluations() const { return evaluations_before_ + objective_.num_evaluations(); }

  const CpObjective<Real>& objective() const { return objective_; }
  double direction_seconds() const { return direction_seconds_; }
  Kruskal<Real> take_model() && { return std::move(objective_).take_model(); }

 private:
  kernels::FactorVector<Real> view(std::vector<Matrix<Real>>& matrices) {
    return kernels::first_rows_of<Real>(matrices, objective_.num_owned());
  }
  void copy(const kernels::FactorVector<Real>& from, const kernels::FactorVector<Real>& to) {
    kernels::combine<Real>({{1, from}}, to);
  }
  Iteration now() const {
    return {.fit = fit_from<Real>(2 * now_.value), .rounding = 2 * now_.rounding, .asked = now_.asked};
  }
  Iteration ended() const {
    auto last = now();
    last.is_last = true;
    return last;
  }

  // The gradient relative to what it is the sum of: below, it is rounding.
  bool is_stationary() const {
    const double size = std::sqrt(now_.squared_gradient * now_.squared_factors);
    return size <= 8 * std::numeric_limits<Real>::epsilon();
  }

  // Tries x + step d.
  Evaluation evaluate(double step) {
    kernels::combine<Real>({{1, at_}, {step, d_}}, objective_.factors());
    return objective_.evaluate(d_);
  }

  // Takes the place that was tried for the new x.
  void settle(const Evaluation& tried) {
    now_ = tried;
    minimum_ = std::min(minimum_, now_.value);
    copy(objective_.factors(), at_);
    copy(objective_.gradient(), g_);
  }

  // Where nothing is known of the curvature: as far as f would fall to zero if it were a parabola, but not
  // farther than the factors are long.
  double first_step() const {
    if (!memory_.is_empty()) return 1;
    return std::min(2 * std::max(now_.value, now_.rounding) / now_.squared_gradient,
                    std::sqrt(now_.squared_factors / now_.squared_gradient));
  }

  // Whether there was a better place.
  bool descend() {
    const Stopwatch watch;
    const double slope = memory_.find_direction(g_, d_);
    direction_seconds_ += watch.seconds();
    Evaluation tried;
    const LineSearchStart start{now_.value, slope, first_step(), now_.rounding, minimum_ + now_.rounding};
    const auto found = line_search(start, [&](double step) {
      tried = evaluate(step);
      return LineSearchPoint{step, tried.value, tried.slope};
    });
    if (!found) return false;
    memory_.add(found->step, d_, g_, objective_.gradient());
    settle(tried);
    return true;
  }

  void go_back() { settle(evaluate(0)); }

  Index num_wanted_;  // components
  CpObjective<Real> objective_;
  LbfgsMemory<Real> memory_;
  std::vector<Matrix<Real>> place_, gradient_, direction_;
  kernels::FactorVector<Real> at_, g_, d_;  // x, g and d
  bool has_begun_ = false;
  Evaluation now_;  // at x
  double minimum_ = std::numeric_limits<double>::infinity();
  double direction_seconds_ = 0;
  int evaluations_before_ = 0;
};

}  // namespace

template <class Real>
CpResult<Real> cp_opt(const DistTensor<Real>& x, const AlsPlan& plan, const CpOptions& options,
                      const CpObserver& observe, const Kruskal<Real>* start, const CpControl<Real>& control) {
  CpResult<Real> result;
  std::optional<CpOpt<Real>> opt;
  const auto begin = [&] {
    result.timings.measure("start", [&] { opt.emplace(x, plan, options, start, control.ask); });
  };
  begin();
  const CpMethod<Real> method{begin, [&] { return opt->iterate(); },
                              [&](CpState<Real>& state) { opt->save(state); },
                              [&](CpRestart<Real>& from) { opt->restore(from); }};
  iterate(result, options, observe, method, control);
  for (const auto& [phase, seconds] : opt->objective().timings().phases()) result.timings.add(phase, seconds);
  result.timings.add("solve", opt->direction_seconds());
  result.evaluations = opt->num_evaluations();
  result.communication = check_traffic(x.comm(), opt->objective().sent(), opt->objective().num_evaluations(),
                                       {x.volume_rows() * options.num_components,
                                        planned_stages(x, options.num_components, options.num_components)});
  result.model = std::move(*opt).take_model();
  return result;
}

template CpResult<float> cp_opt(const DistTensor<float>&, const AlsPlan&, const CpOptions&, const CpObserver&,
                                const Kruskal<float>*, const CpControl<float>&);
template CpResult<double> cp_opt(const DistTensor<double>&, const AlsPlan&, const CpOptions&,
                                 const CpObserver&, const Kruskal<double>*, const CpControl<double>&);

}  // namespace polyad
