#include "polyad/algo/analysis/component_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "polyad/algo/analysis/held_out_fit.hpp"
#include "polyad/algo/cp/singular_start.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/kernels/analysis/core_consistency.hpp"
#include "polyad/kernels/analysis/factor_match.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

constexpr Index max_usual_components = 8;

template <class Real>
class ComponentSweep {
 public:
  ComponentSweep(const Comm& comm, SparseTensor<double> x, const ComponentSweepOptions& options,
                 Progress& progress)
      : comm_(comm),
        options_(options),
        progress_(progress),
        whole_(Comm::self(), [this] { return expand(x_); }),
        training_(Comm::self(), x_, held_out_) {
    x_ = timings_.measure("compress", [&] {
      return progress.during("sorting", [&] {
        auto compacted = compact<double>(std::move(x));
        mode_order_ = one_tree(compacted.tensor.extents()).front();  // short modes first, for the core
        sort_nonzeros(compacted.tensor, mode_order_);
        return compacted;
      });
    });
    if (options.held_out > 0)
      held_out_ = progress.during("drawing cells to hold out", [&] {
        return hold_out(x_, mode_order_, options.held_out, options.decompose.als.seed);
      });
    guesses_ = first_guesses(held_out_);
  }

  // Not copyable: its tensors refer to it.
  ComponentSweep(const ComponentSweep&) = delete;
  ComponentSweep& operator=(const ComponentSweep&) = delete;

  CountEvidence try_count(Index num_components) {
    CountEvidence evidence;
    evidence.num_components = num_components;
    fit_whole(evidence);
    if (squared_norm<double>(held_out_.cells.values()) > 0) fit_around_cells(evidence);
    return evidence;
  }

  ComponentSweepResult take_result(std::vector<CountEvidence> evidence) && {
    ComponentSweepResult result;
    const bool holds_cells_out = held_out_.cells.num_nonzeros() > 0;
    result.recommendation =
        recommend(evidence, x_.tensor.order(),
                  holds_cells_out ? Unpredicted::only_zeros_held_out : Unpredicted::nothing_held_out);
    result.evidence = std::move(evidence);
    result.dims = x_.global_extents;
    result.num_nonzeros = x_.tensor.num_nonzeros();
    result.num_duplicates = x_.num_duplicates;
    result.num_held_out_nonzeros = held_out_.num_nonzeros();
    result.num_held_out_zeros = held_out_.num_zeros();
    result.timings = std::move(timings_);
    return result;
  }

 private:
  // Fits, stability and core consistency: of the whole tensor.
  void fit_whole(CountEvidence& evidence) {
    auto options = options_for(evidence.num_components);
    if (training_.num_builds() > 0) options.extra_bytes += bytes(training_.tensor().local(0));
    prepare(whole_, options);
    const auto& x = whole_.prepared();
    evidence.format = x.chosen.name;
    std::vector<Kruskal<double>> models(num_starts());
    evidence.fits.resize(num_starts());
    evidence.iterations.resize(num_starts());
    for_own_starts([&](int start) {
      std::optional<Kruskal<Real>> first;  // with Start::svd, to be started from
      if (start == 0 && options.als.start == Start::svd)
        first = singular_start<Real>(x.tensor, x.chosen.plan, options);
      const auto result = timings_.measure("fit", [&] {
        return watched(evidence.num_components, start, "fitting", [&](const CpObserver& observe) {
          return cp_als<Real>(x.tensor, x.chosen.plan, als_options(options, start), observe,
                              first ? &*first : nullptr);
        });
      });
      evidence.fits[std::size_t(start)] = result.fit();
      evidence.iterations[std::size_t(start)] = result.iterations();
      models[std::size_t(start)] = kernels::in_double(result.model);
    });
    share(evidence.fits);
    share(evidence.iterations);
    share(models);
    evidence.stability = timings_.measure("compare", [&] { return mean_match(models); });
    const auto best = std::ranges::max_element(evidence.fits) - evidence.fits.begin();
    evidence.core_consistency = timings_.measure("core", [&] {
      return progress_.during("core consistency",
                              [&] { return kernels::core_consistency(x_, mode_order_, models[best]); });
    });
  }

  void fit_around_cells(CountEvidence& evidence) {
    auto options = options_for(evidence.num_components);
    options.extra_bytes += bytes(whole_.prepared().tensor.local(0));
    prepare(training_, options);
    Array<double> best;
    double best_known_fit = -HUGE_VAL;  // of the starts of this process
    evidence.held_out_errors.resize(num_starts());
    evidence.known_fits.resize(num_starts());
    for_own_starts([&](int start) {
      auto fit = timings_.measure("predict", [&] {
        return watched(evidence.num_components, start, "predicting", [&](const CpObserver& observe) {
          auto als = als_options(options, start);
          if (start > 0 && als.start == Start::svd) als.start = Start::automatic;
          return fit_around(training_, guesses_, als, observe);
        });
      });
      evidence.held_out_errors[std::size_t(start)] = fit.error;
      evidence.known_fits[std::size_t(start)] = fit.known_fit;
      if (!best.empty() && !(fit.known_fit > best_known_fit)) return;
      best_known_fit = fit.known_fit;
      best = std::move(fit.predicted);
    });
    share(evidence.held_out_errors);
    share(evidence.known_fits);
    const auto start = std::ranges::max_element(evidence.known_fits) - evidence.known_fits.begin();
    comm_.broadcast(best, owner(int(start)));
    guesses_ = std::move(best);
  }

  template <class Prepared>
  void prepare(Prepared& x, const CpRunOptions& options) {
    together([&] { timings_.measure("compress", [&] { x.prepare(options, progress_); }); });
  }

  std::size_t num_starts() const { return std::size_t(options_.num_starts); }
  // The starts are divided among the processes, each of which has the whole tensor.
  int owner(int start) const { return start % comm_.size(); }

  // Calls work(start) for the starts of this process. Collective.
  void for_own_starts(CallRef<void(int)> work) {
    together([&] {
      for (int start = comm_.rank(); start < options_.num_starts; start += comm_.size()) work(start);
    });
  }
  // If work fails anywhere, all processes throw. On one process, what it throws stays as it is. Collective.
  void together(CallRef<void()> work) {
    if (comm_.size() == 1)
      work();
    else
      run_together(comm_, work);
  }

  // Gives all processes what the owner of each start has. Collective.
  template <class Value>
  void share(std::vector<Value>& of_starts) {
    if (comm_.size() == 1) return;
    for (int start = 0; start < options_.num_starts; ++start) {
      auto& value = of_starts[std::size_t(start)];
      if constexpr (std::is_same_v<Value, Kruskal<double>>)
        share(value, owner(start));
      else
        value = comm_.broadcast(value, owner(start));
    }
  }
  void share(Kruskal<double>& model, int root) {
    comm_.broadcast(model.weights, root);
    model.factors.resize(std::size_t(x_.tensor.order()));
    for (auto& factor : model.factors) {
      const Index rows = comm_.broadcast(factor.num_rows(), root);
      if (comm_.rank() != root) factor = Matrix<double>(rows, model.num_components());
      comm_.broadcast(factor.flat(), root);
    }
  }

  // Runs fn(observer) as a phase that counts iterations.
  template <class Fn>
  auto watched(Index num_components, int start, const char* what, Fn fn) {
    progress_.begin(
        fmt::format("{} {}, start {} of {}", what,
                    num_components == 1 ? "1 component" : fmt::format("{} components", num_components),
                    start + 1, options_.num_starts),
        options_.decompose.als.max_iterations, "iterations");
    auto result = fn([&](const CpProgress& state) {
      progress_.advance(1);
      progress_.show_figure(fmt::format("fit {:.6f}", state.fit));
      return true;
    });
    progress_.finish();
    return result;
  }

  CpRunOptions options_for(Index num_components) const {
    auto options = options_.decompose;
    options.als.num_components = num_components;
    options.extra_bytes += kept_bytes(num_components);
    return options;
  }

  // What this class holds besides the two tensors that are iterated over: the compact one, a model per start,
  // a core per thread.
  Index kept_bytes(Index num_components) const {
    Index rows = 0;
    for (const Index extent : x_.tensor.extents()) rows += extent;
    return coordinate_bytes(x_.tensor.order(), x_.tensor.num_nonzeros(), sizeof(double), sizeof(LocalIndex)) +
           rows * num_components * options_.num_starts * Index(sizeof(double)) +
           kernels::core_bytes(num_components, x_.tensor.order());
  }

  static CpAlsOptions als_options(const CpRunOptions& options, int start) {
    auto als = options.als;
    als.seed += std::uint64_t(start);
    return als;
  }

  static std::optional<double> mean_match(const std::vector<Kruskal<double>>& models) {
    double sum = 0;
    int pairs = 0;
    for (std::size_t a = 0; a < models.size(); ++a)
      for (std::size_t b = 0; b < a; ++b, ++pairs) sum += kernels::factor_match_score(models[a], models[b]);
    if (pairs == 0) return {};
    return sum / pairs;
  }

  const Comm& comm_;
  const ComponentSweepOptions& options_;
  Progress& progress_;
  CompactTensor<double> x_;
  std::vector<int> mode_order_;
  HeldOut held_out_;
  TensorPreparer<Real> whole_;
  TrainingTensor<Real> training_;
  Array<double> guesses_;  // of the held-out cells, by the last number of components
  Timings timings_;
};

}  // namespace

template <class Real>
ComponentSweepResult sweep_components(const Comm& comm, SparseTensor<double> x,
                                      const ComponentSweepOptions& options, Progress& progress,
                                      const ComponentSweepObserver& observe) {
  ComponentSweep<Real> sweep(comm, std::move(x), options, progress);
  std::vector<CountEvidence> evidence;
  for (const Index count : options.component_counts) {
    evidence.push_back(sweep.try_count(count));
    if (observe) observe(evidence.back());
  }
  return std::move(sweep).take_result(std::move(evidence));
}

std::vector<Index> usual_component_counts(std::span<const Index> dims) {
  // The product of all dimensions but the largest components are enough for any tensor.
  double maximum = 1;
  for (const Index dim : dims) maximum *= double(dim);
  maximum /= double(*std::ranges::max_element(dims));
  std::vector<Index> counts;
  for (Index count = 1; count <= max_usual_components && (count == 1 || double(count) <= maximum); ++count)
    counts.push_back(count);
  return counts;
}

template ComponentSweepResult sweep_components<float>(const Comm&, SparseTensor<double>,
                                                      const ComponentSweepOptions&, Progress&,
                                                      const ComponentSweepObserver&);
template ComponentSweepResult sweep_components<double>(const Comm&, SparseTensor<double>,
                                                       const ComponentSweepOptions&, Progress&,
                                                       const ComponentSweepObserver&);

}  // namespace polyad
