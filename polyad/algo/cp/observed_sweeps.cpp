#include "polyad/algo/cp/observed_sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "polyad/algo/cp/random_start.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_update.hpp"

namespace polyad {
namespace {

ErrorFigures figures_of(const ErrorSums& sums) {
  if (sums.count == 0) return {};
  return {std::sqrt(sums.squares / double(sums.count)), sums.magnitudes / double(sums.count)};
}

// Over all processes, in one collective, with what these ask for.
kernels::CellErrors sum_over(const Comm& comm, const kernels::CellErrors& own, const AskProcess& ask,
                             RunRequests& asked) {
  std::vector<double> all{own.loss,
                          own.train.squares,
                          own.train.magnitudes,
                          own.test.squares,
                          own.test.magnitudes,
                          double(own.train.count),
                          double(own.test.count)};
  asked = add_up_with_requests(comm, all, ask);
  return {all[0], {all[1], all[2], Index(all[5])}, {all[3], all[4], Index(all[6])}};
}

}  // namespace

template <class Real>
kernels::RowSystems<Real> ObservedTensor<Real>::cells(int mode) const {
  const auto& local = x.local(mode);
  if (const auto* csf = std::get_if<CsfTensor<Real>>(&local))
    for (const auto& tree : csf->trees)
      if (tree.modes()[0] == mode) return {.tree = &tree};
  return {.cells = &local, .mode_of_cells = mode};
}

template <class Real>
ObservedSweeps<Real>::ObservedSweeps(const ObservedTensor<Real>& cells, const ObservedOptions& options,
                                     const Kruskal<Real>* start, AskProcess ask)
    : cells_(cells),
      x_(cells.x),
      options_(options),
      ask_(std::move(ask)),
      mode_order_(options.mode_order),
      loss_(options.loss) {
  if (options.gpu) check_gpu();  // before there are factors
  const int order = x_.order();
  if (mode_order_.empty()) {
    mode_order_.resize(std::size_t(order));
    std::iota(mode_order_.begin(), mode_order_.end(), 0);
  }
  const bool has_values = loss_.kind == kernels::CellLoss::Kind::squares;
  const bool prefers_uniform =
      has_values && !options.has_biases &&
      prefers_uniform_start(x_.num_negative(), x_.num_nonzeros(), options.nonnegative);
  const auto random = random_start(options, prefers_uniform);
  // Values of the model are about as large as those of the tensor.
  const double size = std::pow(options.unit / std::sqrt(double(options.num_components)), 1.0 / order);
  for (int m = 0; m < order; ++m) {
    auto& factor = factors_.emplace_back(x_.num_rows(m), num_columns());
    kernels::fill_with_start(factor, options.num_components, random, m, x_.rows(m));
    for (Real& entry : factor.flat()) entry *= Real(size);
    if (start != nullptr) start_from(*start, m);
    if (is_nonnegative(m)) kernels::make_nonnegative(factor);
    start_biases(m);
    grams_.push_back(kernels::gram(factor, x_.num_owned(m)));
    x_.comm().all_reduce(grams_.back().flat());
    const auto counts = counts_of(m);
    const auto shrinkage = m == options.mode_of_items ? options.shrinkage.for_items() : options.shrinkage;
    ridges_.push_back(ridges_for(counts, shrinkage, std::pow(options.unit, 2 - 2.0 / order)));
    bias_ridges_.push_back(ridges_for(counts, options.bias_shrinkage, 1));
  }
  connect();
  if (start != nullptr) {
    expand_all(exchanges_);
    sent_before_ = sent_so_far();
  }
  if (options.gpu) make_passes();
}

template <class Real>
void ObservedSweeps<Real>::check_gpu() const {
  std::vector<Index> num_rows;
  Index num_cells = 0;
  for (int m = 0; m < x_.order(); ++m) {
    num_rows.push_back(x_.num_rows(m));
    num_cells = std::max(num_cells, cells_.cells(m).tree->num_nonzeros());
  }
  collectively(x_.comm(), [&] {
    gpu::check_cell_passes(*options_.gpu, num_rows, num_cells, options_.num_components,
                           num_columns() - options_.num_components, sizeof(Real));
  });
}

template <class Real>
void ObservedSweeps<Real>::make_passes() {
  std::vector<kernels::RowSystems<Real>> modes;
  for (int m = 0; m < x_.order(); ++m) modes.push_back(systems(m));
  passes_ = timings_.measure("upload", [&] {
    return collectively(x_.comm(),
                        [&] { return gpu::make_cell_passes<Real>(*options_.gpu, modes, factors_); });
  });
}

template <class Real>
void ObservedSweeps<Real>::put_rows(int mode) {
  if (passes_) timings_.measure("upload", [&] { passes_->put_rows(mode, factors_[mode]); });
}

template <class Real>
void ObservedSweeps<Real>::approach() {
  constexpr int num_full = 10;
  const int num_fading = options_.loss.has_background() ? 0 : 8;
  const auto ridges = ridges_, bias_ridges = bias_ridges_;
  for (auto* all : {&ridges_, &bias_ridges_})  // zeros make the model small, and regularisation would end it
    for (auto& of_mode : *all) std::ranges::fill(of_mode, Real{});
  for (int i = 0; i < num_full + num_fading; ++i) {
    if (!options_.loss.has_background())
      loss_.background = i < num_full ? 1 : std::exp2(-double(i - num_full + 1));
    for (const int mode : mode_order_) update(mode);
    ++num_sweeps_;
  }
  loss_ = options_.loss;
  ridges_ = ridges;
  bias_ridges_ = bias_ridges;
}

template <class Real>
Sweep ObservedSweeps<Real>::sweep() {
  for (const int mode : mode_order_) update(mode);
  ++num_sweeps_;
  return timings_.measure("measure", [&] { return measure(); });
}

template <class Real>
std::vector<Matrix<Real>> ObservedSweeps<Real>::owned_rows() const {
  std::vector<Matrix<Real>> rows;
  for (int m = 0; m < x_.order(); ++m)
    rows.push_back(kernels::first_rows(Matrix<Real>(factors_[m]), x_.num_owned(m)));
  return rows;
}

template <class Real>
void ObservedSweeps<Real>::save(CpState<Real>& state) {
  for (const auto& of_mode : grams_) state.numbers.put_list(of_mode.flat());
  state.vectors.push_back(own_rows());
  state.num_columns = num_columns();
}

template <class Real>
kernels::FactorVector<Real> ObservedSweeps<Real>::restore(StateNumbers& numbers) {
  for (auto& of_mode : grams_) numbers.take_list(of_mode.flat());
  return own_rows();
}

template <class Real>
void ObservedSweeps<Real>::has_been_filled() {
  expand_all(exchanges_);
  for (int m = 0; m < x_.order(); ++m) put_rows(m);
  sent_before_ = sent_so_far();
}

template <class Real>
StagedTraffic ObservedSweeps<Real>::sent_so_far() const {
  auto sent = sent_by(exchanges_);
  for (int m = 0; m < x_.order(); ++m) {
    if (!x_.folds(m)) continue;
    const auto folded = folds_[fold_of_mode_[m]].sent_by_stage();
    for (std::size_t s = 0; s < folded.size(); ++s) sent[m][s] += folded[s];
  }
  return sent;
}

template <class Real>
std::vector<Index> ObservedSweeps<Real>::num_owned() const {
  std::vector<Index> counts;
  for (int m = 0; m < x_.order(); ++m) counts.push_back(x_.num_owned(m));
  return counts;
}

template <class Real>
PlannedTraffic ObservedSweeps<Real>::planned() const {
  bool folds = false;
  for (int m = 0; m < x_.order(); ++m) folds = folds || x_.folds(m);
  return {folds ? x_.volume_rows() / 2 * (num_columns() + words()) : x_.volume_rows() * num_columns(),
          planned_stages(x_, words(), num_columns())};
}

template <class Real>
void ObservedSweeps<Real>::start_from(const Kruskal<Real>& start, int mode) {
  auto rows = start.factors[mode];
  const double scale =
      loss_.kind == kernels::CellLoss::Kind::squares ? x_.value_scale() : 1;  // else of 0 and 1
  for (Index i = 0; i < rows.num_rows(); ++i)
    for (Index r = 0; r < rows.num_cols(); ++r)
      rows(i, r) *= Real(std::pow(start.weights[r] / scale, 1.0 / x_.order()));
  kernels::fill_with_columns(factors_[mode], rows);
}

template <class Real>
void ObservedSweeps<Real>::start_biases(int mode) {
  if (!options_.has_biases) return;
  auto& factor = factors_[mode];
  for (Index i = 0; i < factor.num_rows(); ++i)
    for (int m = 0; m < x_.order(); ++m)
      factor(i, options_.num_components + m) = m == mode ? Real(0) : Real(1);
  if (options_.start_biases.empty()) return;
  for (Index i = 0; i < x_.num_owned(mode); ++i)
    factor(i, options_.num_components + mode) = Real(options_.start_biases[mode][i]);
}

template <class Real>
void ObservedSweeps<Real>::connect() {
  Index max_sums = 0, max_words = 0;
  for (int m = 0; m < x_.order(); ++m) {
    max_sums = std::max(max_sums, end_sum(m) - first_sum(m));
    if (x_.folds(m))
      max_words = std::max(
          max_words, RoutedExchange<Real>::num_words_under_way(x_.exchange(m), words(), SentRows::in_place));
  }
  sums_ = Matrix<Real>(max_sums, words());
  under_way_ = SharedArray<Real>(x_.comm(), max_words);
  for (int m = 0; m < x_.order(); ++m) {
    exchanges_.emplace_back(
        x_.comm(), x_.exchange(m),
        typename RoutedExchange<Real>::Rows{
            .partial = nothing_, .factor = factors_[m], .num_components = num_columns(), .folds = false},
        m);
    fold_of_mode_.push_back(folds_.size());
    if (!x_.folds(m)) continue;
    sums_.set_num_rows(end_sum(m) - first_sum(m));
    folds_.emplace_back(x_.comm(), x_.exchange(m),
                        typename RoutedExchange<Real>::Rows{.partial = sums_,
                                                            .factor = sums_,
                                                            .num_components = words(),
                                                            .first_partial = first_sum(m),
                                                            .buffer = &under_way_,
                                                            .expands = false},
                        m);
  }
}

template <class Real>
Array<Index> ObservedSweeps<Real>::counts_of(int mode) const {
  auto counts = kernels::count_cells<Real>(cells(mode), end_sum(mode));
  if (!x_.folds(mode)) return counts;
  Matrix<double> column(std::ssize(counts), 1);
  std::ranges::copy(counts, column.flat().begin());
  RoutedExchange<double>(x_.comm(), x_.exchange(mode),
                         {.partial = column, .factor = column, .num_components = 1, .expands = false}, mode)
      .fold();
  std::ranges::transform(column.flat(), counts.begin(), [](double count) { return Index(count); });
  return counts;
}

template <class Real>
Array<Real> ObservedSweeps<Real>::ridges_for(const Array<Index>& counts, const Shrinkage& shrinkage,
                                             double unit) {
  Array<Real> ridges(counts.size());
  std::ranges::transform(counts, ridges.begin(), [&](Index count) {
    return Real(unit * (shrinkage.per_rating * double(count) + shrinkage.per_row));
  });
  return ridges;
}

template <class Real>
kernels::RowSystems<Real> ObservedSweeps<Real>::cells(int mode) const {
  auto cells = cells_.cells(mode);
  if (!cells_.weights.empty()) cells.weights = cells_.weights[mode];
  return cells;
}

template <class Real>
kernels::RowSystems<Real> ObservedSweeps<Real>::systems(int mode) const {
  auto systems = cells(mode);
  systems.loss = loss_;
  systems.offset = options_.offset;
  systems.num_factors = options_.num_components;
  systems.ridge = ridges_[mode];
  systems.bias_ridge = bias_ridges_[mode];
  systems.is_nonnegative = is_nonnegative(mode);
  systems.range = options_.range;
  systems.cg_steps = options_.cg_steps;
  return systems;
}

template <class Real>
void ObservedSweeps<Real>::update(int mode) {
  timings_.measure("solve", [&] {
    auto of_mode = systems(mode);
    const auto others = kernels::hadamard_except(grams_, mode);
    of_mode.gram = &others;
    solve(of_mode, mode);
  });
  timings_.measure("communicate", [&] { exchanges_[mode].start_expanding(); });
  auto gram = timings_.measure("solve", [&] { return kernels::gram(factors_[mode], x_.num_owned(mode)); });
  timings_.measure("communicate", [&] {
    x_.comm().all_reduce(gram.flat());
    exchanges_[mode].finish_expanding();
  });
  if (x_.comm().size() > 1) put_rows(mode);
  grams_[mode] = std::move(gram);
}

template <class Real>
void ObservedSweeps<Real>::solve(const kernels::RowSystems<Real>& of_mode, int mode) {
  const Index first = first_sum(mode), end = end_sum(mode);
  const bool adds_up = x_.folds(mode) || end > first;  // the same on all processes where rows are folded
  if (adds_up) {
    sums_.set_num_rows(end - first);
    kernels::sum_systems<Real>(of_mode, factors_, first, sums_);
    if (x_.folds(mode)) folds_[fold_of_mode_[mode]].start_folding();
  }
  if (first > 0 && passes_)
    passes_->solve_rows(of_mode, factors_, first);
  else if (first > 0)
    kernels::solve_rows<Real>(of_mode, factors_, first);
  if (!adds_up) return;
  if (x_.folds(mode)) folds_[fold_of_mode_[mode]].finish_folding();
  kernels::solve_sums<Real>(of_mode, sums_, first, x_.num_owned(mode), factors_);
}

template <class Real>
int ObservedSweeps<Real>::mode_to_measure() const {
  const int last = mode_order_.back();
  const auto* csf = std::get_if<CsfTensor<Real>>(&x_.local(last));
  return csf == nullptr || has_tree(last) ? last : csf->trees.front().modes()[0];
}

template <class Real>
Sweep ObservedSweeps<Real>::measure() {
  const int mode = mode_to_measure();
  const auto own =
      passes_ ? passes_->measure(systems(mode)) : kernels::measure_cells<Real>(systems(mode), factors_);
  const auto errors = sum_over(x_.comm(), own, ask_, asked_);
  Sweep sweep;
  sweep.cell_loss = errors.loss;
  if (loss_.has_background())
    sweep.cell_loss += loss_.background * kernels::sum_of_entries(kernels::hadamard_except(grams_, -1));
  sweep.loss = sweep.cell_loss + x_.comm().all_reduce(own_penalty());
  if (!std::isfinite(sweep.loss)) fit_from<Real>(sweep.loss);  // throws
  sweep.train = figures_of(errors.train);
  sweep.train_squares = errors.train.squares;
  if (errors.test.count > 0) sweep.test = figures_of(errors.test);
  return sweep;
}

template <class Real>
double ObservedSweeps<Real>::own_penalty() const {
  double sum = 0;
  for (int m = 0; m < x_.order(); ++m)
    for (Index i = 0; i < x_.num_owned(m); ++i) {
      const auto row = factors_[m].row(i);
      double squares = 0;
      for (Index r = 0; r < options_.num_components; ++r) squares += double(row[r]) * double(row[r]);
      sum += double(ridges_[m][i]) * squares;
      if (!options_.has_biases) continue;
      const auto bias = double(row[options_.num_components + m]);
      sum += double(bias_ridges_[m][i]) * bias * bias;
    }
  return sum;
}

template struct ObservedTensor<float>;
template struct ObservedTensor<double>;
template class ObservedSweeps<float>;
template class ObservedSweeps<double>;

}  // namespace polyad
