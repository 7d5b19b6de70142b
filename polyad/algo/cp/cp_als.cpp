#include "polyad/algo/cp/cp_als.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "polyad/algo/cp/als_backend.hpp"
#include "polyad/algo/cp/finish_model.hpp"
#include "polyad/algo/cp/random_start.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/distributed/routed_exchange.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/kernels/cp/factor_vectors.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_update.hpp"

namespace polyad {
namespace {

// Relative to the norm of the tensor: smaller weights are indistinguishable from rounding errors.
constexpr double negligible = 1e-100;

// Sums over the rows of all processes, in one collective, with what these ask for. Where all have solved all
// rows, those of the first process, which asks for nothing: they differ in rounding where processes have
// different numbers of threads.
std::optional<RunRequests> make_global(const Comm& comm, const ExchangePlan& exchange, const AskProcess& ask,
                                       kernels::RowSums& sums) {
  std::vector<double> all(sums.gram.flat().begin(), sums.gram.flat().end());
  all.push_back(sums.inner);
  std::optional<RunRequests> asked;
  if (exchange.is_replicated)
    comm.broadcast(std::span(all), 0);
  else
    asked = add_up_with_requests(comm, all, ask);
  sums.inner = all.back();
  std::copy(all.begin(), all.end() - 1, sums.gram.flat().begin());
  return asked;
}

// The state of one run. As in docs/algorithms.md: M = MTTKRP(X, n), V is the elementwise product of the Gram
// matrices of the other modes, and A_n = M V^+.
template <class Real>
class CpAls {
 public:
  CpAls(const DistTensor<Real>& x, const AlsPlan& plan, const CpAlsOptions& options,
        const Kruskal<Real>* start, AskProcess ask)
      : x_(x),
        plan_(plan),
        ask_(std::move(ask)),
        num_wanted_(options.num_components),
        num_components_(kernels::padded_components(options.num_components)),
        nonnegative_(options.nonnegative),
        weights_(std::size_t(num_components_), std::sqrt(x.squared_norm())),
        coefficients_(std::size_t(num_components_), 1),
        min_weight_(negligible * std::sqrt(x.squared_norm())) {
    if (options.gpu)  // before there are factors, which may be larger than the memory of the machine, too
      collectively(x.comm(), [&] { check_gpu(x, plan, num_wanted_, *options.gpu); });
    for (int m = 0; m < x.order(); ++m) {
      factors_.emplace_back(x.num_rows(m), num_components_);
      grams_.emplace_back(num_components_, num_components_);
    }
    const auto random =
        random_start(options, prefers_uniform_start(x.num_negative(), x.num_nonzeros(), nonnegative_));
    for (const int m : plan.mode_order) {
      if (start == nullptr && m == plan.mode_order.front()) continue;  // is computed before it is used
      if (start == nullptr || start->num_components() < options.num_components)
        kernels::fill_with_start(factors_[m], options.num_components, random, m, x.rows(m));
      if (start != nullptr) start_from(start->factors[m], m);
      if (is_nonnegative(m)) kernels::make_nonnegative(factors_[m]);
      grams_[m] = kernels::gram(factors_[m], x.num_owned(m));
      x.comm().all_reduce(grams_[m].flat());
    }
    if (start != nullptr) {
      std::ranges::transform(start->weights, weights_.begin(), [&](double w) { return w / x.value_scale(); });
      std::copy_n(weights_.begin(), start->weights.size(), coefficients_.begin());  // columns have length one
    }
    choose_partial_rows();
    backend_ = options.gpu ? collectively(x.comm(), [&] { return make_gpu_backend(data(), *options.gpu); })
                           : make_host_backend(data());
    connect();
    put_factors();
    if (start != nullptr) expand_all(exchanges_);
    begin_to_count();
  }
  CpAls(const CpAls&) = delete;  // the exchanges refer to its rows
  CpAls& operator=(const CpAls&) = delete;

  // Updates every factor once.
  Iteration iterate() {
    asked_.reset();
    for (const auto& step : plan_.steps) run(step);
    ++num_iterations_;
    auto iteration = measure();
    std::vector<double>
        nothing_else;  // there is no other sum on one process, or where all modes are replicated
    iteration.asked = asked_ ? *asked_ : add_up_with_requests(x_.comm(), nothing_else, ask_);
    return iteration;
  }
  int num_iterations() const { return num_iterations_; }
  double max_condition() const { return max_condition_; }
  Index device_bytes() const { return backend_->device_bytes(); }

  void save(CpState<Real>& state) {
    for (const auto& of_mode : grams_) state.numbers.put_list(of_mode.flat());
    state.numbers.put_list(weights_);
    state.numbers.put_list(coefficients_);
    state.numbers.put(inner_);
    state.numbers.put(max_condition_);
    fetch_factors();
    state.vectors.push_back(own_rows());
    state.num_columns = num_wanted_;
  }
  void restore(CpRestart<Real>& from) {
    for (auto& of_mode : grams_) from.numbers.take_list(of_mode.flat());
    from.numbers.take_list(weights_);
    from.numbers.take_list(coefficients_);
    inner_ = from.numbers.take();
    max_condition_ = from.numbers.take();
    from.fill({own_rows()}, num_wanted_);
    for (int m = 0; m < x_.order(); ++m)
      if (x_.exchange(m).is_replicated) x_.comm().broadcast(factors_[m].flat(), 0);
    put_factors();
    expand_all(exchanges_);
    begin_to_count();
  }

  Kruskal<Real> take_model() &&;
  const Timings& timings() const { return timings_; }
  double copying_seconds() const {
    double seconds = 0;
    for (const auto& exchange : exchanges_) seconds += exchange.copying_seconds();
    return seconds - copied_before_;
  }
  // By all iterations so far.
  StagedTraffic sent() const { return sent_by(exchanges_) - sent_before_; }

 private:
  // What was exchanged so far belongs to no iteration.
  void begin_to_count() {
    sent_before_ = sent_by(exchanges_);
    copied_before_ += copying_seconds();
  }
  void put_factors() {
    for (int m = 0; m < x_.order(); ++m) backend_->put_rows(m);
  }
  void fetch_factors() {
    for (int m = 0; m < x_.order(); ++m) backend_->fetch_rows(m);
  }

  kernels::FactorVector<Real> own_rows() {
    std::vector<Index> num_owned;
    for (int m = 0; m < x_.order(); ++m) num_owned.push_back(x_.num_owned(m));
    return kernels::first_rows_of<Real>(factors_, num_owned);
  }

  // Where every process has all rows of the mode, the first one owns them.
  void start_from(const Matrix<Real>& own_rows, int mode) {
    kernels::fill_with_columns(factors_[mode], own_rows);
    if (x_.exchange(mode).is_replicated) x_.comm().broadcast(factors_[mode].flat(), 0);
  }

  // Which partial rows of a mode have a place: those that others want, without those that are complete, where
  // these are solved in the pass that sums them.
  void choose_partial_rows() {
    for (int m = 0; m < x_.order(); ++m) first_partial_.push_back(x_.num_complete(m));
    for (const auto& step : plan_.steps)
      if (step.kind == AlsStep::Kind::mttkrp) first_partial_[step.mode] = 0;
  }
  // Prepares the exchange of rows, and the place for the partial rows of one mode at a time.
  void connect() {
    under_way_ = backend_->make_message_buffer();
    Index max_partial = 0;
    for (int m = 0; m < x_.order(); ++m) max_partial = std::max(max_partial, num_partial(m));
    partial_pages_ = SharedArray<Real>(x_.comm(), max_partial * num_components_);
    partial_ = Matrix<Real>(max_partial, num_components_, partial_pages_.mine());
    for (int m = 0; m < x_.order(); ++m) {
      partial_.set_num_rows(num_partial(m));
      exchanges_.emplace_back(x_.comm(), x_.exchange(m),
                              typename RoutedExchange<Real>::Rows{.partial = partial_,
                                                                  .factor = factors_[m],
                                                                  .num_components = num_wanted_,
                                                                  .first_partial = first_partial_[m],
                                                                  .buffer = &under_way_,
                                                                  .place = backend_->rows(m),
                                                                  .partial_pages = &partial_pages_},
                              m);
    }
  }
  // In partial_.
  Index num_partial(int mode) const {
    if (!x_.folds(mode) || backend_->rows(mode) != nullptr) return 0;
    return x_.num_rows(mode) - first_partial_[mode];
  }

  void run(const AlsStep& step) {
    update(step, step.mode);
    if (step.kind == AlsStep::Kind::root_and_next) update(step, data().tree(step).modes()[1]);
  }

  // Updates the rows that this process owns: those to which no other adds, while the sums of the others are
  // under way.
  void update(const AlsStep& step, int mode) {
    backend_->begin(step, mode);
    const auto system = timings_.measure("solve", [&] { return row_system(mode); });
    if (x_.folds(mode)) {
      partial_.set_num_rows(num_partial(mode));
      backend_->sum_shared(step, mode);
      timings_.measure("communicate", [&] { exchanges_[mode].start_folding(); });
    }
    kernels::RowSums sums = backend_->update_complete(step, mode, system);
    if (x_.folds(mode)) {
      timings_.measure("communicate", [&] { exchanges_[mode].finish_folding(); });
      sums += backend_->update_shared(mode, system);
    }
    settle(mode, std::move(sums));
  }

  // Makes the sums global, and the new rows known to those who need them.
  void settle(int mode, kernels::RowSums sums) {
    timings_.measure("communicate", [&] {
      if (x_.comm().size() == 1) return;
      exchanges_[mode].start_expanding(NewRows::in_both);
      if (const auto asked = make_global(x_.comm(), x_.exchange(mode), ask_, sums)) asked_ = asked;
      exchanges_[mode].finish_expanding();
    });
    grams_[mode] = std::move(sums.gram);
    inner_ = sums.inner;
    for (Index r = 0; r < num_components_; ++r) {
      coefficients_[r] = scales_[r].factor > 0 ? 1 / scales_[r].factor : 0;
      weights_[r] = std::sqrt(grams_[mode](r, r)) * scales_[r].others * coefficients_[r];
    }
  }

  // Scales such that the columns of the factor come out with a norm of about one: divided by the
  // component's weight as it was last, over the norm that the other modes give it. Any scale is right, for
  // the next mode's V and M carry it too; powers of two do not round. The last mode is not scaled and so
  // holds the weights.
  void choose_scales(const Matrix<double>& v, int mode) {
    scales_.clear();
    for (Index r = 0; r < num_components_; ++r) {
      const double others = std::sqrt(v(r, r));
      const bool is_alive = others > 0 && weights_[r] > min_weight_;
      const bool is_scaled = is_alive && mode != plan_.mode_order.back();
      const double ratio = is_scaled ? std::exp2(std::round(std::log2(others / weights_[r]))) : 1;
      scales_.push_back({others, is_alive ? ratio : 0});
    }
  }

  kernels::RowSystem row_system(int mode) {
    auto v = kernels::hadamard_except(grams_, mode);
    choose_scales(v, mode);
    kernels::RowSystem system;
    system.start = coefficients_;
    for (const auto& scale : scales_) system.scale.push_back(scale.factor);
    if (is_nonnegative(mode)) {
      system.kind = kernels::RowSystem::Kind::descend;
      system.v = std::move(v);
      return system;
    }
    auto [inverse, is_direct, condition] =
        kernels::invert_normal_matrix(v, std::numeric_limits<Real>::epsilon());
    for (Index i = 0; i < num_components_; ++i)
      for (Index r = 0; r < num_components_; ++r) inverse(i, r) *= scales_[r].factor;
    system.inverse = std::move(inverse);
    max_condition_ = std::max(max_condition_, condition);
    if (!is_direct) {
      system.kind = kernels::RowSystem::Kind::correct;
      system.v = std::move(v);
    }
    return system;
  }

  bool is_nonnegative(int mode) const { return !nonnegative_.empty() && nonnegative_[mode]; }

  Iteration measure() const {
    const double norm = x_.squared_norm();
    if (norm == 0) return {1};
    const auto model = kernels::hadamard_except(grams_, -1);
    double terms = norm + 2 * std::abs(inner_);
    for (const double entry : model.flat()) terms += std::abs(entry);
    constexpr double rounding = 8 * std::numeric_limits<Real>::epsilon();
    return {.fit = fit_from<Real>((norm - 2 * inner_ + kernels::sum_of_entries(model)) / norm),
            .rounding = rounding * terms / norm};
  }

  AlsData<Real> data() { return {x_, plan_, factors_, partial_, first_partial_, timings_, num_wanted_}; }

  const DistTensor<Real>& x_;
  const AlsPlan& plan_;
  AskProcess ask_;
  std::optional<RunRequests> asked_;  // in the iteration under way
  Index num_wanted_;                  // components
  Index num_components_;              // with columns of zeros, as kernels like it
  std::vector<bool> nonnegative_;     // [mode]
  std::vector<Matrix<Real>> factors_;
  std::vector<Matrix<double>> grams_;
  std::vector<double> weights_;  // [component]: the norm of its rank-one tensor, as of the last update
  // [component]: what the product of the columns, as they are stored, is multiplied with to be the component.
  std::vector<double> coefficients_;
  double min_weight_;  // a component below is rounding noise, and becomes zero
  struct Scale {
    double others;  // the product of the norms of the other modes' columns
    double factor;  // what the new column was multiplied with
  };
  std::vector<Scale> scales_;         // [component], of the update under way
  std::vector<Index> first_partial_;  // [mode]: the row that partial_ begins with
  SharedArray<Real> partial_pages_;   // what partial_ is in
  Matrix<Real> partial_;              // the MTTKRP of the mode under way, of which others have parts
  Timings timings_;
  SharedArray<Real> under_way_;  // buffer of the exchange in progress
  std::unique_ptr<AlsBackend<Real>> backend_;
  std::vector<RoutedExchange<Real>> exchanges_;  // [mode]; they refer to rows of the backend
  StagedTraffic sent_before_;                    // before the first iteration
  double copied_before_ = 0;
  double inner_ = 0;  // of tensor and model
  int num_iterations_ = 0;
  double max_condition_ = 1;  // of the systems so far
};

template <class Real>
Kruskal<Real> CpAls<Real>::take_model() && {
  exchanges_.clear();  // they refer to the factors
  fetch_factors();
  backend_.reset();
  partial_ = Matrix<Real>();
  partial_pages_ = SharedArray<Real>();
  under_way_ = SharedArray<Real>();
  return finish_model(x_, std::move(factors_), grams_, {num_wanted_, x_.value_scale(), nonnegative_});
}

}  // namespace

template <class Real>
CpResult<Real> cp_als(const DistTensor<Real>& x, const AlsPlan& plan, const CpAlsOptions& options,
                      const CpObserver& observe, const Kruskal<Real>* start, const CpControl<Real>& control) {
  CpResult<Real> result;
  std::optional<CpAls<Real>> als;
  const auto begin = [&] {
    result.timings.measure("start", [&] { als.emplace(x, plan, options, start, control.ask); });
  };
  begin();
  const CpMethod<Real> method{begin, [&] { return als->iterate(); },
                              [&](CpState<Real>& state) { als->save(state); },
                              [&](CpRestart<Real>& from) { als->restore(from); }};
  iterate(result, options, observe, method, control);
  for (const auto& [phase, seconds] : als->timings().phases()) result.timings.add(phase, seconds);
  result.timings.add("copy", als->copying_seconds());
  result.communication = check_traffic(x.comm(), als->sent(), als->num_iterations(),
                                       {x.volume_rows() * options.num_components,
                                        planned_stages(x, options.num_components, options.num_components)});
  result.max_condition = als->max_condition();
  result.device_bytes = x.comm().all_reduce(als->device_bytes(), Reduce::max);
  result.model = std::move(*als).take_model();
  return result;
}

template CpResult<float> cp_als(const DistTensor<float>&, const AlsPlan&, const CpAlsOptions&,
                                const CpObserver&, const Kruskal<float>*, const CpControl<float>&);
template CpResult<double> cp_als(const DistTensor<double>&, const AlsPlan&, const CpAlsOptions&,
                                 const CpObserver&, const Kruskal<double>*, const CpControl<double>&);

}  // namespace polyad
