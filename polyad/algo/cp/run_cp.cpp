#include "polyad/algo/cp/run_cp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "polyad/algo/cp/cp_biases.hpp"
#include "polyad/algo/cp/cp_opt.hpp"
#include "polyad/algo/cp/finish_model.hpp"
#include "polyad/algo/cp/singular_vectors.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/distributed/sketches_of_all.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/plan/stage_memory.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

[[noreturn]] void refuse(const std::vector<FormatOption>& options, const CpRunOptions& wanted) {
  throw Error(Errc::resource,
              fmt::format("the decomposition does not fit into {} in format {}; predicted are\n{}",
                          with_prefix(double(wanted.max_bytes), "B"), wanted.format, format_table(options)));
}

// [mode]: of the nonzeros, those in rows that this process completes alone.
template <class Real>
std::vector<double> complete_shares(const LocalNonzeros<Real>& x) {
  std::vector<double> shares;
  for (std::size_t m = 0; m < x.exchanges.size(); ++m) {
    const auto& exchange = x.exchanges[m];
    const auto indices = x.tensors[x.tensors.size() == 1 ? 0 : m].indices(int(m));
    const auto complete =
        std::ranges::count_if(indices, [&](LocalIndex row) { return Index(row) < exchange.num_complete(); });
    shares.push_back(indices.empty() ? 1 : double(complete) / double(indices.size()));
  }
  return shares;
}

// Collective.
template <class Real>
NonzeroShapes measure_shapes(const Comm& comm, const LocalNonzeros<Real>& x) {
  NonzeroShapes result;
  std::vector<std::span<const Index>> rows;  // [mode]
  std::vector<Index> all_rows;               // [mode]: of the whole tensor
  for (const auto& exchange : x.exchanges) {
    rows.emplace_back(exchange.rows);
    all_rows.push_back(comm.all_reduce(exchange.num_owned));
    result.num_rows.push_back(std::ssize(exchange.rows));
    result.num_lent.push_back(std::ssize(exchange.lent));
    result.num_travelling.push_back(exchange.num_travelling());
  }
  result.complete = complete_shares(x);
  FiberSketches whole;
  for (const auto& tensor : x.tensors) {
    auto sketches = sketch_fibers<Real>(tensor, rows, all_rows);
    auto& shape = result.locals.emplace_back(shape_of(tensor.extents(), tensor.num_nonzeros(), sketches));
    shape.num_blocks = estimate_blocks(tensor);
    if (whole.empty()) whole = std::move(sketches);
  }
  merge_over(comm, std::views::values(whole));
  result.whole = shape_of(all_rows, x.num_nonzeros, whole);
  return result;
}

// Lists what the formats would take for the nonzeros that this process holds.
template <class Real>
class FormatLister {
 public:
  FormatLister(const NonzeroShapes& shapes, const CpRunOptions& options)
      : shapes_(shapes), options_(options), n_(kernels::padded_components(options.als.num_components)) {}

  // From the whole tensor, so that it is the same however that is distributed.
  std::vector<int> mode_order() const {
    if (!options_.mode_order.empty()) return options_.mode_order;
    if (is_opt()) return natural_mode_order(shapes_.whole.order());
    return choose_mode_order(shapes_.whole, n_);
  }

  std::vector<FormatOption> list(const std::vector<int>& mode_order) const {
    std::vector<AlsCost> costs;
    for (std::size_t t = 0; t < shapes_.locals.size(); ++t) costs.push_back(cost(t));
    auto formats = is_coarse() ? list_coarse_formats(costs, mode_order) : list_formats(costs[0], mode_order);
    if (is_opt()) plan_evaluations(formats);
    const auto needs = stage_needs();
    for (auto& format : formats) {
      if (options_.observed) format.work_bytes += system_bytes(format);
      add_stage_bytes(format, needs);
    }
    return formats;
  }

 private:
  bool is_opt() const { return options_.method == Method::opt; }
  bool is_coarse() const { return shapes_.locals.size() > 1; }

  // With CP-OPT rows are never solved in the pass that sums them.
  AlsCost cost(std::size_t t) const {
    const auto complete = is_opt() ? std::vector<double>(shapes_.complete.size(), 0) : shapes_.complete;
    return {shapes_.locals[t], {n_, sizeof(Real), num_threads(), complete, options_.machine}};
  }

  // Memory of systems that are added up: of all rows of a mode that has no tree of its own, else of those
  // that other processes have cells of; and of those under way.
  Index system_bytes(const FormatOption& format) const {
    const bool has_trees = is_coarse() ? format.format == Format::csf : format.name == "csf-all";
    Index num_systems = 0;
    for (std::size_t m = 0; m < shapes_.num_rows.size(); ++m) {
      const Index lent = is_coarse() ? 0 : shapes_.num_lent[m],
                  travelling = is_coarse() ? 0 : shapes_.num_travelling[m];
      num_systems = std::max(num_systems, lent + (has_trees ? lent + travelling : shapes_.num_rows[m]));
    }
    return num_systems * Index(sizeof(Real)) *
           kernels::words_of_system(options_.als.num_components, options_.observed->has_biases);
  }

  StageNeeds stage_needs() const {
    const Index num_wanted = options_.als.num_components;
    StageNeeds needs{.rows = shapes_.num_rows, .num_components = num_wanted, .value_bytes = sizeof(Real)};
    // Rows that are lent, and those that travel without padding.
    for (std::size_t m = 0; m < shapes_.num_lent.size(); ++m)
      needs.rows_under_way.push_back(shapes_.num_lent[m] +
                                     (num_wanted == n_ ? 0 : shapes_.num_travelling[m]));
    needs.num_vectors = is_opt() ? num_cp_opt_vectors : 0;
    needs.moved_bytes = shapes_.moved_bytes;
    needs.extra_bytes = options_.extra_bytes;
    needs.read_bytes = options_.read_bytes;
    if (options_.als.start == Start::svd) add_singular_start(needs);
    return needs;
  }

  // The vectors are computed mode by mode, and their rows are kept.
  void add_singular_start(StageNeeds& needs) const {
    const Index num_wanted = options_.als.num_components;
    Index num_rows = 0;
    for (const Index rows : shapes_.num_rows) {
      num_rows += rows;
      const Index bytes = singular_vector_bytes(shapes_.locals.front().num_nonzeros,
                                                shapes_.locals.front().order(), rows, num_wanted);
      needs.start_bytes = std::max(needs.start_bytes, bytes);
    }
    needs.extra_bytes += num_rows * num_wanted * Index(sizeof(Real));
  }

  // For all factors at once: an MTTKRP per mode and no more.
  void plan_evaluations(std::vector<FormatOption>& formats) const {
    for (auto& format : formats) {
      format.plan = plain_plan(format.plan.mode_order, format.plan.trees);
      if (!is_coarse() && format.format == Format::csf) format.seconds = cost(0).seconds(format.plan);
      format.work_bytes = cost(0).work_bytes(format.plan);
    }
  }

  const NonzeroShapes& shapes_;
  const CpRunOptions& options_;
  Index n_;
};

// The largest of any process: the slowest holds up all, and each must fit. Collective.
void take_largest(const Comm& comm, std::vector<FormatOption>& formats) {
  for (auto& format : formats) {
    format.seconds = comm.all_reduce(format.seconds, Reduce::max);
    format.build_seconds = comm.all_reduce(format.build_seconds, Reduce::max);
    for (Index* bytes : {&format.format_bytes, &format.work_bytes, &format.build_bytes})
      *bytes = comm.all_reduce(*bytes, Reduce::max);
  }
}

// Collective.
template <class Real>
FormatChoice choose_for(const Comm& comm, const NonzeroShapes& shapes, const CpRunOptions& options) {
  const FormatLister<Real> lister(shapes, options);
  auto formats = lister.list(lister.mode_order());
  if (options.format != "auto" &&
      std::ranges::find(formats, options.format, &FormatOption::name) == formats.end())
    throw Error(Errc::bad_option,
                "in coarse grain the formats are csf, coo and hicoo, not " + options.format);
  take_largest(comm, formats);
  const auto chosen = choose_format(formats, options.format, options.max_bytes);
  if (!chosen) refuse(formats, options);
  return {std::move(formats), *chosen};
}

template <class Real>
std::vector<LocalTensor<Real>> build_locals(std::vector<SparseTensor<Real, LocalIndex>> tensors,
                                            const FormatOption& chosen) {
  std::vector<LocalTensor<Real>> locals;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    auto trees = chosen.plan.trees;
    if (tensors.size() > 1 && !trees.empty())  // each has the tree of its own mode
      trees = {trees[std::ranges::find(chosen.plan.mode_order, int(t)) - chosen.plan.mode_order.begin()]};
    locals.push_back(build_format(std::move(tensors[t]), chosen.format, trees));
  }
  return locals;
}

}  // namespace

template <class Real>
FormatChoice suggest_format(SparseTensor<double> x, const CpRunOptions& options) {
  std::vector<SparseTensor<double>> whole;
  whole.push_back(std::move(x));
  const auto nonzeros = localise<Real>(Comm::self(), std::move(whole), {});
  return choose_for<Real>(Comm::self(), measure_shapes(Comm::self(), nonzeros), options);
}

template <class Real>
LocalNonzeros<Real> TensorPreparer<Real>::sort(const CpRunOptions& options, Progress& progress) {
  const Distribution none;
  const auto& distribution = distribution_ != nullptr ? *distribution_ : none;
  auto moved = timings_.measure("distribute", [&] {
    return progress.during("moving nonzeros", [&] {
      auto share = make_share_();
      extents_ = share.extents();
      const Index num_sent = share.num_nonzeros();
      auto arrived = move_to_owners(comm_, std::move(share), distribution);
      Index num_received = 0, num_largest = 0;
      for (const auto& tensor : arrived) {
        num_received += tensor.num_nonzeros();
        num_largest = std::max(num_largest, tensor.num_nonzeros());
      }
      const int order = int(extents_.size());
      moved_bytes_ = sort_bytes(num_received, num_largest, order);
      if (comm_.size() > 1)
        moved_bytes_ = std::max(moved_bytes_, bytes_while_moving(num_sent, num_received, order));
      return arrived;
    });
  });
  check_sorting(moved, options);
  return timings_.measure("compress", [&] {
    return progress.during("sorting", [&] { return localise<Real>(comm_, std::move(moved), distribution); });
  });
}

// On all processes or on none. Where modes have tensors of their own, their order tells whose tree is whose.
template <class Real>
bool TensorPreparer<Real>::is_built_for(const FormatOption& chosen) const {
  if (!prepared_) return false;
  const auto& built = prepared_->chosen;
  const bool is_same = built.format == chosen.format && built.plan.trees == chosen.plan.trees &&
                       (shapes_->locals.size() == 1 || built.plan.mode_order == chosen.plan.mode_order);
  return comm_.all_reduce(std::int32_t(is_same), Reduce::min) == 1;
}

// Before they take the memory. Little of it is not worth a sentence of its own: what does not fit is refused
// later, with a table of what each format would need. Collective.
template <class Real>
void TensorPreparer<Real>::check_sorting(const std::vector<SparseTensor<double>>& moved,
                                         const CpRunOptions& options) const {
  const Index bytes = comm_.all_reduce(program_bytes() + moved_bytes_ + options.extra_bytes, Reduce::max);
  constexpr Index little = Index(64) << 20;
  if (options.max_bytes == 0 || bytes <= std::max(options.max_bytes, program_bytes() + little)) return;
  Index maximum = 0;
  for (const auto& tensor : moved) maximum += tensor.num_nonzeros();
  maximum = comm_.all_reduce(maximum, Reduce::max);
  throw Error(
      Errc::resource,
      fmt::format("sorting {} nonzeros, duplicates included, would need about {}, more than the {} "
                  "that may be used; more processes need less each",
                  maximum, with_prefix(double(bytes), "B"), with_prefix(double(options.max_bytes), "B")));
}

template <class Real>
PreparedTensor<Real>& TensorPreparer<Real>::prepare(const CpRunOptions& options, Progress& progress) {
  timings_ = {};
  std::optional<LocalNonzeros<Real>> x;
  if (!shapes_) x = sort(options, progress);
  auto choice = timings_.measure("choose", [&] {
    return progress.during("counting fibers", [&] {
      if (!shapes_) {
        shapes_ = measure_shapes(comm_, *x);
        shapes_->moved_bytes = moved_bytes_;
      }
      return choose_for<Real>(comm_, *shapes_, options);
    });
  });
  if (is_built_for(choice.chosen)) {
    prepared_->chosen = std::move(choice.chosen);
    prepared_->options = std::move(choice.options);
    prepared_->timings = std::move(timings_);
    return *prepared_;
  }
  prepared_.reset();  // frees its memory first: there may not be enough for two
  if (!x) x = sort(options, progress);
  auto locals = timings_.measure("compress", [&] {
    return progress.during("building " + choice.chosen.name,
                           [&] { return build_locals(std::move(x->tensors), choice.chosen); });
  });
  ++num_builds_;
  prepared_.emplace(PreparedTensor<Real>{DistTensor<Real>(comm_, extents_, *x, std::move(locals)),
                                         std::move(choice.chosen), std::move(choice.options),
                                         x->num_duplicates, std::move(x->loads), std::move(timings_)});
  return *prepared_;
}

template <class Real>
PreparedTensor<Real> prepare(const Comm& comm, SparseTensor<double> share, const CpRunOptions& options,
                             Progress& progress, const Distribution& distribution) {
  TensorPreparer<Real> preparer(
      comm, [&] { return std::move(share); }, &distribution);
  return std::move(preparer.prepare(options, progress));
}

Array<double> draw_held_out(const SparseTensor<double>& share, double held_out, std::uint64_t seed) {
  constexpr std::uint64_t stream = 0x6f6273;  // apart from those of starts
  Array<double> weights(std::size_t(share.num_nonzeros()));
  parallel_for(share.num_nonzeros(), [&](Index z) {
    std::uint64_t place = 0;
    for (int m = 0; m < share.order(); ++m)
      place = Random(place, stream).bits(std::uint64_t(share.indices(m)[z]))[0];
    weights[z] = Random(seed, stream).uniform(place) < held_out ? -1 : 1;
  });
  return weights;
}

namespace {

// The sum of weight * term(value) over all cells that are not held out. Collective.
template <class Real, class Term>
double sum_over_known(const PreparedTensor<Real>& x, Term term) {
  const auto values = kernels::cell_values(ObservedTensor<Real>{x.tensor}.cells(0));
  double sum = 0;
  for (std::size_t z = 0; z < values.size(); ++z) {
    const double weight = x.weights.empty() ? 1 : double(x.weights[0][z]);
    if (weight > 0) sum += weight * term(double(values[z]));
  }
  return x.tensor.comm().all_reduce(sum);
}

// Alpha for the values of the tensor as they are.
template <class Real>
double alpha_for(const PreparedTensor<Real>& x, double alpha) {
  const double sum = sum_over_known(x, [](double value) { return std::abs(value); });
  return sum > 0 ? alpha * sum_over_known(x, [](double) { return 1.0; }) / sum : 0;
}

// Marks, 1 or -1, in the order of the cells of each mode. Those of duplicates, which were added up,
// count once.
template <class Real>
std::vector<Array<Real>> marks_by_mode(const DistTensor<Real>& marks) {
  std::vector<Array<Real>> weights;
  const ObservedTensor<Real> cells{marks};
  for (int m = 0; m < marks.order(); ++m) {
    const auto of_mode = kernels::cell_values(cells.cells(m));
    auto& signs = weights.emplace_back(of_mode.size());
    std::ranges::transform(of_mode, signs.begin(), [](Real mark) { return mark > 0 ? Real(1) : Real(-1); });
  }
  return weights;
}

// Weights in this order.
template <class Real>
std::vector<Array<Real>> weights_by_mode(const DistTensor<Real>& tensor) {
  std::vector<Array<Real>> weights;
  const ObservedTensor<Real> cells{tensor};
  const auto scale = Real(tensor.value_scale());
  for (int m = 0; m < tensor.order(); ++m) {
    const auto of_mode = kernels::cell_values(cells.cells(m));
    auto& here = weights.emplace_back(of_mode.size());
    std::ranges::transform(of_mode, here.begin(), [&](Real weight) { return weight * scale; });
  }
  return weights;
}

template <class Real>
bool have_same_cells(const CsfTensor<Real>& a, const CsfTensor<Real>& b) {
  const auto are_same = [](const CsfTree<Real>& left, const CsfTree<Real>& right) {
    if (left.modes() != right.modes()) return false;
    for (int level = 0; level < left.order(); ++level) {
      if (!std::ranges::equal(left.ids(level), right.ids(level))) return false;
      if (level < left.last_level() && !std::ranges::equal(left.first_child(level), right.first_child(level)))
        return false;
    }
    return true;
  };
  return std::ranges::equal(a.trees, b.trees, are_same);
}
template <class Real>
bool have_same_cells(const CooTensor<Real>& a, const CooTensor<Real>& b) {
  for (int m = 0; m < a.order(); ++m)
    if (!std::ranges::equal(a.tensor.indices(m), b.tensor.indices(m))) return false;
  return true;
}
template <class Real>
bool have_same_cells(const HicooTensor<Real>& a, const HicooTensor<Real>& b) {
  return std::ranges::equal(a.first, b.first) && std::ranges::equal(a.places, b.places, std::ranges::equal) &&
         std::ranges::equal(a.offsets, b.offsets, std::ranges::equal);
}

// Whether two tensors have the same cells on this process.
template <class Real>
bool have_same_cells(const DistTensor<Real>& a, const DistTensor<Real>& b) {
  for (int m = 0; m < a.order(); ++m) {
    if (!std::ranges::equal(a.rows(m), b.rows(m))) return false;
    const bool are_same = std::visit(
        [&](const auto& format) {
          const auto* other = std::get_if<std::decay_t<decltype(format)>>(&b.local(m));
          return other != nullptr && have_same_cells(format, *other);
        },
        a.local(m));
    if (!are_same) return false;
  }
  return true;
}

// What the factors explain is then how values differ from their mean.
template <class Real>
void add_biases(const PreparedTensor<Real>& x, const ObservedRun& run, ObservedOptions& observed) {
  constexpr double equal_deviation = 1e-12;  // of equal values rounding may leave a deviation
  const double sum_of_weights = sum_over_known(x, [](double) { return 1.0; });
  if (sum_of_weights > 0)
    observed.offset = sum_over_known(x, [](double value) { return value; }) / sum_of_weights;
  const double squares =
      sum_over_known(x, [&](double value) { return (value - observed.offset) * (value - observed.offset); });
  const double deviation = sum_of_weights > 0 ? std::sqrt(squares / sum_of_weights) : 0;
  if (deviation > equal_deviation * std::abs(observed.offset)) observed.unit = deviation;
  observed.has_biases = true;
  observed.start_biases = run.start_biases;
  for (auto& of_mode : observed.start_biases)
    for (double& bias : of_mode) bias /= x.tensor.value_scale();
}

template <class Real>
ObservedOptions observed_options_for(const PreparedTensor<Real>& x, const CpRunOptions& options) {
  const auto& tensor = x.tensor;
  const auto& run = *options.observed;
  ObservedOptions observed;
  static_cast<CpOptions&>(observed) = options.als;
  observed.shrinkage = {run.regularisation, run.per_row};
  observed.bias_shrinkage = {run.regularisation, 0};
  observed.nonnegative = options.als.nonnegative;
  observed.mode_order = x.chosen.plan.mode_order;
  if (run.alpha) {
    observed.loss = {kernels::CellLoss::Kind::confidence, alpha_for(x, *run.alpha), 1};
    observed.patience = 0;  // preferences of held-out cells say nothing about their values
    observed.approaches = tensor.order() > 2;
    return observed;
  }
  observed.patience = run.patience;
  observed.approaches = tensor.order() > 2;
  observed.unit = std::sqrt(tensor.squared_norm() / std::max(1.0, double(tensor.num_nonzeros())));
  if (run.has_biases) add_biases(x, run, observed);
  if (observed.unit == 0) observed.unit = 1;
  return observed;
}

// The loss of a model that is zero everywhere. Collective.
template <class Real>
double loss_of_nothing(const PreparedTensor<Real>& x, const kernels::CellLoss& loss) {
  if (loss.kind == kernels::CellLoss::Kind::squares)
    return x.weights.empty() ? x.tensor.squared_norm()
                             : sum_over_known(x, [](double value) { return value * value; });
  return sum_over_known(x,
                        [&](double value) { return value > 0 ? loss.background + loss.alpha * value : 0.0; });
}

// As a decomposition is described: the fit is that of the observed cells that the model learned from, or by
// the weights of all cells.
template <class Real>
CpResult<Real> observed_cp(const PreparedTensor<Real>& x, const CpRunOptions& options,
                           const CpObserver& observe, const Kruskal<Real>* start) {
  const auto& tensor = x.tensor;
  const auto observed = observed_options_for(x, options);
  const bool is_implicit = options.observed->alpha.has_value();
  const double scale = is_implicit ? 1 : tensor.value_scale();
  CpResult<Real> result;
  const double known = loss_of_nothing(x, observed.loss);
  if (is_implicit) result.weighted_norm = std::sqrt(known);
  double last_fit = 0;
  const auto note = [&](const Sweep& sweep) {
    const double fit = known == 0 ? 1 : fit_from<Real>(sweep.cell_loss / known);
    const double change = fit - std::exchange(last_fit, fit);
    result.fit_trajectory.push_back(fit);
    result.iteration_seconds.push_back(sweep.seconds);
    if (sweep.test && !is_implicit) result.held_out_rmse.push_back(sweep.test->rmse * tensor.value_scale());
    return !observe || observe({sweep.number, fit, change});
  };
  auto model = observed_als<Real>({tensor, x.weights}, observed, note, start);
  result.model_iteration = model.best_sweep;
  result.stop = model.stop;
  result.communication = model.communication;
  result.timings = std::move(model.timings);
  for (const double seconds : result.iteration_seconds) result.timings.add("iterate", seconds);
  const ModelForm form{options.als.num_components, scale, options.als.nonnegative};
  if (!observed.has_biases) {
    result.model = finish_model(tensor, std::move(model.factors), model.grams, form);
    return result;
  }
  auto biases = take_biases(model.factors, model.grams, form.num_components);
  biases.mean = observed.offset;
  result.model = finish_model(tensor, std::move(model.factors), model.grams, form);
  result.empty_rows = append_biases(result.model, biases, tensor.extents(), scale);
  result.mean = observed.offset * scale;
  return result;
}

// Trees rooted at each mode, unless another format is asked for. In coarse grain, csf is that.
std::string format_of_cells(const std::string& asked_for, const Distribution& distribution,
                            int num_processes) {
  if (asked_for != "auto" && asked_for != "csf") return asked_for;
  return num_processes > 1 && distribution.scheme == Scheme::coarse ? "csf" : "csf-all";
}

template <class Real>
PreparedTensor<Real> prepare_both(const Comm& comm, SparseTensor<double> values, SparseTensor<double> marks,
                                  CpRunOptions options, Progress& progress,
                                  const Distribution& distribution) {
  options.format = format_of_cells(options.format, distribution, comm.size());
  std::vector<Array<Real>> weights;
  if (marks.order() > 0)
    weights = marks_by_mode(prepare<Real>(comm, std::move(marks), options, progress, distribution).tensor);
  auto prepared = prepare<Real>(comm, std::move(values), options, progress, distribution);
  prepared.weights = std::move(weights);
  return prepared;
}

// Divides weights by their mean. Collective.
void divide_by_mean(const Comm& comm, std::span<double> weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  const auto count = double(comm.all_reduce(std::ssize(weights)));
  sum = comm.all_reduce(sum);
  if (sum == 0) throw Error(Errc::bad_input, "has only weights of 0");
  for (double& weight : weights) weight *= count / sum;
}

template <class Real>
PreparedTensor<Real> prepare_weighted(const Comm& comm, SparseTensor<double> values,
                                      SparseTensor<double> weights, CpRunOptions options, Progress& progress,
                                      const Distribution& distribution) {
  options.format = format_of_cells(options.format, distribution, comm.size());
  const auto of_cells = prepare<Real>(comm, std::move(weights), options, progress, distribution);
  auto prepared = prepare<Real>(comm, std::move(values), options, progress, distribution);
  if (prepared.num_duplicates + of_cells.num_duplicates > 0)
    throw Error(Errc::bad_input,
                fmt::format("has several entries of a cell, and weights cannot be combined; {} "
                            "says what becomes of them",
                            option_name("duplicates")));
  const bool are_same = have_same_cells(prepared.tensor, of_cells.tensor);
  if (comm.all_reduce(std::int32_t(are_same), Reduce::min) == 0)
    throw Error(Errc::bad_input, "has other cells than the tensor; expected a weight for each of its cells");
  prepared.weights = weights_by_mode(of_cells.tensor);
  return prepared;
}

}  // namespace

template <class Real>
PreparedTensor<Real> prepare_cells(const Comm& comm, SparseTensor<double> values,
                                   SparseTensor<double> weights, Progress& progress,
                                   const Distribution& distribution, Index num_components) {
  CpRunOptions options;
  options.als.num_components = num_components;
  return prepare_both<Real>(comm, std::move(values), std::move(weights), options, progress, distribution);
}

template <class Real>
PreparedTensor<Real> prepare_observed(const Comm& comm, SparseTensor<double> share,
                                      const CpRunOptions& options, Progress& progress,
                                      const Distribution& distribution, SparseTensor<double> weights) {
  if (weights.order() > 0) {
    collectively(comm, [&] {
      if (weights.extents() != share.extents())
        throw Error(Errc::bad_input,
                    "has other dims than the tensor; expected a weight for each of its cells");
      const auto wrong = std::ranges::find_if(weights.values(), [](double weight) { return !(weight >= 0); });
      if (wrong != weights.values().end())
        throw Error(Errc::bad_input, fmt::format("has the weight {}; expected 0 or more", *wrong));
    });
    divide_by_mean(comm, weights.values());
    const auto signs = draw_held_out(weights, options.observed->held_out, options.als.seed);
    for (Index z = 0; z < weights.num_nonzeros(); ++z) weights.values()[z] *= signs[z];
    return prepare_weighted<Real>(comm, std::move(share), std::move(weights), options, progress,
                                  distribution);
  }
  SparseTensor<double> marks;
  if (options.observed->held_out > 0) {
    marks = share;
    std::ranges::copy(draw_held_out(share, options.observed->held_out, options.als.seed),
                      marks.values().begin());
  }
  return prepare_both<Real>(comm, std::move(share), std::move(marks), options, progress, distribution);
}

template <class Real>
CpResult<Real> run_cp(const PreparedTensor<Real>& x, const CpRunOptions& options, const CpObserver& observe,
                      const Kruskal<Real>* start) {
  if (options.observed) return observed_cp<Real>(x, options, observe, start);
  if (options.method == Method::opt) return cp_opt<Real>(x.tensor, options.als, observe, start);
  return cp_als<Real>(x.tensor, x.chosen.plan, options.als, observe, start);
}

template <class Real>
BestOfStarts<Real> run_starts(const PreparedTensor<Real>& x, CpRunOptions options, int num_starts,
                              const std::function<void(int)>& begin, const CpObserver& observe,
                              const Kruskal<Real>* start_model) {
  BestOfStarts<Real> runs;
  Timings timings;
  const auto first_seed = options.als.seed;
  const bool is_of_first_only = options.als.start == Start::svd;
  const auto run = [&](std::uint64_t seed, const CpObserver& observer) {
    options.als.seed = seed;
    runs.best = {};  // frees its memory first
    runs.best = run_cp(x, options, observer, is_of_first_only && seed != first_seed ? nullptr : start_model);
    for (const auto& [phase, seconds] : runs.best.timings.phases()) timings.add(phase, seconds);
  };
  for (int start = 1; start <= num_starts && runs.best.stop != StopReason::observer; ++start) {
    begin(start);
    const auto seed = first_seed + std::uint64_t(start - 1);
    run(seed, [&](CpProgress progress) {
      progress.start = start;
      return observe(progress);
    });
    runs.starts.push_back({seed, runs.best.fit(), runs.best.iterations()});
  }
  const auto best = std::ranges::max_element(runs.starts, {}, &StartOutcome::fit);
  runs.seed = best->seed;
  if (best + 1 != runs.starts.end()) run(runs.seed, {});
  runs.best.timings = std::move(timings);
  return runs;
}

std::string format_table(const std::vector<FormatOption>& options) {
  std::string text = fmt::format("  {:<8} {:>16} {:>12} {:>12}", "format", "per iteration", "tensor", "peak");
  for (const auto& option : options)
    text += fmt::format("\n  {:<8} {:>13.4g} ms {:>12} {:>12}", option.name, 1e3 * option.seconds,
                        with_prefix(double(option.format_bytes), "B"),
                        with_prefix(double(option.peak_bytes()), "B"));
  return text;
}

template FormatChoice suggest_format<float>(SparseTensor<double>, const CpRunOptions&);
template FormatChoice suggest_format<double>(SparseTensor<double>, const CpRunOptions&);
template PreparedTensor<float> prepare(const Comm&, SparseTensor<double>, const CpRunOptions&, Progress&,
                                       const Distribution&);
template PreparedTensor<double> prepare(const Comm&, SparseTensor<double>, const CpRunOptions&, Progress&,
                                        const Distribution&);
template PreparedTensor<float> prepare_cells(const Comm&, SparseTensor<double>, SparseTensor<double>,
                                             Progress&, const Distribution&, Index);
template PreparedTensor<float> prepare_observed(const Comm&, SparseTensor<double>, const CpRunOptions&,
                                                Progress&, const Distribution&, SparseTensor<double>);
template PreparedTensor<double> prepare_cells(const Comm&, SparseTensor<double>, SparseTensor<double>,
                                              Progress&, const Distribution&, Index);
template PreparedTensor<double> prepare_observed(const Comm&, SparseTensor<double>, const CpRunOptions&,
                                                 Progress&, const Distribution&, SparseTensor<double>);
template class TensorPreparer<float>;
template class TensorPreparer<double>;
template CpResult<float> run_cp(const PreparedTensor<float>&, const CpRunOptions&, const CpObserver&,
                                const Kruskal<float>*);
template CpResult<double> run_cp(const PreparedTensor<double>&, const CpRunOptions&, const CpObserver&,
                                 const Kruskal<double>*);
template BestOfStarts<float> run_starts(const PreparedTensor<float>&, CpRunOptions, int,
                                        const std::function<void(int)>&, const CpObserver&,
                                        const Kruskal<float>*);
template BestOfStarts<double> run_starts(const PreparedTensor<double>&, CpRunOptions, int,
                                         const std::function<void(int)>&, const CpObserver&,
                                         const Kruskal<double>*);

}  // namespace polyad
