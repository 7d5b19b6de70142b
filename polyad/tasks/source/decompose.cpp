#include "polyad/tasks/decompose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "polyad/algo/analysis/context_ranking.hpp"
#include "polyad/algo/cp/cp_opt.hpp"
#include "polyad/algo/cp/prepare_cells.hpp"
#include "polyad/algo/cp/run_cp.hpp"
#include "polyad/algo/cp/singular_start.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/distributed/cp/row_stream.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/plan/strategy_memory.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/checkpoints/checkpoint_identity.hpp"
#include "polyad/tasks/detail/checkpoints/checkpoints.hpp"
#include "polyad/tasks/detail/checkpoints/cp_control.hpp"
#include "polyad/tasks/detail/choose_device.hpp"
#include "polyad/tasks/detail/cp_model_state.hpp"
#include "polyad/tasks/detail/decide_distribution.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/memory_use.hpp"
#include "polyad/tasks/detail/nonnegative_flags.hpp"
#include "polyad/tasks/detail/output/output_files.hpp"
#include "polyad/tasks/detail/ratings/list_model.hpp"
#include "polyad/tasks/detail/settings.hpp"
#include "polyad/tasks/detail/start_model.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

struct NamedFormat {
  StorageFormat format;
  const char* name;  // one of format_names(), or auto
};
constexpr std::array named_formats{
    NamedFormat{StorageFormat::automatic, "auto"},  NamedFormat{StorageFormat::csf, "csf"},
    NamedFormat{StorageFormat::csf_one, "csf-one"}, NamedFormat{StorageFormat::csf_two, "csf-two"},
    NamedFormat{StorageFormat::csf_all, "csf-all"}, NamedFormat{StorageFormat::coo, "coo"},
    NamedFormat{StorageFormat::hicoo, "hicoo"}};

// Formats with a given set of trees need all nonzeros of a process in one tensor; coarse grain has one tensor
// for each mode.
bool serves_coarse_grain(StorageFormat format) {
  return format != StorageFormat::csf_one && format != StorageFormat::csf_two &&
         format != StorageFormat::csf_all;
}

void check_mode_order(const std::vector<int>& modes, int order) {
  auto sorted = modes;
  std::ranges::sort(sorted);
  for (int m = 0; m < std::ssize(sorted); ++m)
    if (std::ssize(sorted) != order || sorted[m] != m)
      tasks::refuse_option(
          fmt::format("{}: expected each of the {} modes once", option_name("mode_order"), order));
}

CpRunOptions run_options(const DecomposeOptions& options, int order) {
  check_mode_order(options.mode_order, order);
  CpRunOptions run;
  run.method = options.method;
  run.als.num_components = options.rank;
  run.als.max_iterations = options.max_iterations;
  run.als.tolerance = options.tolerance;
  run.als.seed = options.seed;
  run.als.start = options.start;
  run.als.nonnegative = tasks::nonnegative_flags(options.nonnegative, options.nonnegative_modes, order);
  if (options.missing) {
    const auto& [regularisation, test_fraction, patience, weights, has_biases] = *options.missing;
    run.observed = ObservedRun{regularisation, test_fraction, patience};
    run.observed->has_biases = has_biases;
  }
  if (options.implicit) {
    const auto& [alpha, regularisation, shrinkage, test_fraction] = *options.implicit;
    const Shrinkage usual = order == 2 ? tasks::list_shrinkage : Shrinkage{0, 1};
    run.observed = ObservedRun{regularisation.value_or(usual.per_rating), test_fraction, 0, alpha,
                               shrinkage.value_or(usual.per_row)};
  }
  run.format = to_string(options.format);
  run.mode_order = options.mode_order;
  run.max_bytes = options.max_memory_bytes;
  return run;
}

bool asks_for_grid(const DistributionOptions& options) {
  return options.grid || options.policy || options.grid_rule != DistributionOptions::GridRule::fastest;
}

// Instead of what is predicted to be faster.
void exchange_directly(std::vector<Exchange>& exchange) {
  if (exchange.empty()) exchange.emplace_back();
  for (auto& of_mode : exchange)
    if (of_mode.kind == Exchange::Kind::any) of_mode.kind = Exchange::Kind::direct;
}

DistributionOptions distribution_options(const DecomposeOptions& options, int order) {
  auto distribution = options.distribution;
  distribution.seed = options.seed;
  distribution.allows_coarse = distribution.allows_coarse && serves_coarse_grain(options.format);
  const bool has_row_systems = options.missing || options.implicit;
  // In coarse grain no systems are sent, and rows belong to slices. In medium grain weights find the cells
  // that they belong to.
  if (has_row_systems && !distribution.scheme && !asks_for_grid(distribution)) {
    const bool can_be_coarse = serves_coarse_grain(options.format) && !distribution.row_rule;
    distribution.scheme = can_be_coarse ? Scheme::coarse : Scheme::medium;
  }
  // Rows move to where they are owned, so that no mode can be replicated.
  if (options.method == Method::opt || has_row_systems)
    distribution.is_replicated = std::vector<bool>(std::size_t(order), false);
  // Where systems are folded, about R^2 / 2 words for a row: stages, which save messages, would send them
  // several times.
  if (has_row_systems && distribution.scheme != Scheme::coarse) exchange_directly(distribution.exchange);
  return distribution;
}

// How distributions are compared, besides by time. All processes use the most threads that one has, so that
// they choose alike.
template <class Real>
MemoryLimit memory_limit(const CpRunOptions& options, int max_threads) {
  const auto need = [&options, max_threads](const PartLoads& loads, Scheme scheme) {
    return memory_need(loads, scheme, options.als.num_components, options.max_bytes, options.format,
                       {.value_bytes = sizeof(Real), .threads = max_threads, .machine = options.machine},
                       options.method == Method::opt ? num_cp_opt_vectors : 0);
  };
  return {options.max_bytes, need};
}

// A model of this precision, with the tensor that says which process owns which rows.
template <class Real>
class ModelState final : public CpModel::State {
 public:
  ModelState(const Context& context, std::vector<ModeLabels> mode_labels, PreparedTensor<Real> x,
             Kruskal<Real> own_rows, std::vector<std::vector<double>> empty_rows)
      : State(context.comm(), std::move(mode_labels)),
        x_(std::move(x)),
        rows_(x_.tensor, std::move(own_rows), std::move(empty_rows)) {
    formats = x_.options;
  }

  const report::ComponentSummary& summarise(Index num_strongest) override {
    if (summary_.num_strongest == num_strongest) return summary_.value;
    serve([&](const KruskalRows<Real>& rows) {
      summary_.value = report::summarise_components(rows, labels, num_strongest);
      if (run.mean) report::name_biases(summary_.value);
      note_memory();
    });
    summary_.num_strongest = num_strongest;
    return summary_.value;
  }

  void read_factor(int mode, const CpModel::TakeRows& take) override {
    serve([&](const KruskalRows<Real>& rows) { for_each_full_block<Real>(rows, mode, take); });
  }

  void write(const std::filesystem::path& path, Progress& progress) override {
    const auto failure = rows_.serve(
        [&](const KruskalRows<Real>& rows, const WriteTogether& write_together) {
          write_rows(path, rows, write_together, progress);
          note_memory();
        },
        io::kruskal_sink(path));
    throw_if(failure);
  }

 private:
  void serve(const std::function<void(const KruskalRows<Real>&)>& use) { throw_if(rows_.serve(use)); }

  // On process 0. Collective.
  void throw_if(const std::exception_ptr& failure) {
    collectively(comm, [&] {
      if (failure) std::rethrow_exception(failure);
    });
  }

  void write_rows(const std::filesystem::path& path, const KruskalRows<Real>& rows,
                  const WriteTogether& write_together, Progress& progress) {
    const Stopwatch watch;
    const auto format = io::kruskal_format_by_extension(path).value();
    progress.begin("writing " + path.string());
    if (format == io::KruskalFormat::splatt) {
      io::write_kruskal(
          path, rows, format,
          [&](const std::filesystem::path& directory) {
            io::write_label_files(io::labels_place(directory, format), labels);
            run.output_seconds = watch.seconds();
            tasks::write_text(directory / "summary.json", tasks::json_text(cpd_json(run)) + "\n");
          },
          io::Existing::replaced, run.prepared, write_together);
    } else {
      io::write_kruskal(path, rows, format, {}, io::Existing::replaced, run.prepared, write_together);
      io::write_label_files(io::labels_place(path, format), labels);
      run.output_seconds = watch.seconds();
    }
    progress.finish();
  }

  PreparedTensor<Real> x_;
  RowStream<Real> rows_;
  struct {
    Index num_strongest = -1;  // that it was made for
    report::ComponentSummary value;
  } summary_;
};

template <class Real>
BestOfStarts<Real> iterate_with_progress(const Context& context, const PreparedTensor<Real>& x,
                                         const CpRunOptions& options, int num_starts,
                                         const CpObserver& observer, const Kruskal<Real>* start_model,
                                         const CpControl<Real>& control) {
  const auto begin = [&](int start) {
    context.progress().begin(
        num_starts == 1 ? "iterating" : fmt::format("iterating, start {} of {}", start, num_starts),
        options.als.max_iterations, "iterations");
  };
  const auto observe = [&](const CpProgress& progress) {
    context.progress().advance(1);
    context.progress().show_figure(fmt::format("fit {:.6f}", progress.fit));
    return !observer || tasks::all_go_on(context.comm(), [&] { return observer(progress); });
  };
  auto result = run_starts<Real>(x, options, num_starts, begin, observe, start_model, control);
  context.progress().finish();
  return result;
}

// All cells and which of them are held out, on process 0. Collective.
SplitCells gather_split(const Comm& comm, const SparseTensor<double>& share, const CpRunOptions& options) {
  const auto own = draw_held_out(share, options.observed->held_out, options.als.seed);
  std::vector<Array<Index>> indices;
  for (int m = 0; m < share.order(); ++m)
    indices.push_back(std::move(comm.gather_varying<Index>(share.indices(m), 0).items));
  auto values = std::move(comm.gather_varying<double>(share.values(), 0).items);
  auto marks = std::move(comm.gather_varying<double>(own, 0).items);
  return {SparseTensor<double>(share.extents(), std::move(indices), std::move(values)), std::move(marks)};
}

// How the lists of a model of implicit feedback do. Collective.
RankingMetrics measure_lists(const CpModel& model, const SplitCells& split) {
  constexpr int item_mode = 1;
  constexpr Index list_length = 10;
  const Comm& comm = model.state().comm;
  const auto whole = tasks::whole_model(model);
  const auto metrics = collectively(comm, [&] {
    return comm.rank() == 0 ? rank_in_context(*whole, split, item_mode, list_length) : RankingMetrics{};
  });
  return comm.broadcast(metrics, 0);
}

// Of cells that are fitted alone, a model of zeros means that regularisation outweighs them.
void warn_of_vanishing(const Context& context, const ObservedRun& run, double fit) {
  constexpr double negligible = 1e-6;
  if (fit >= negligible) return;
  std::string hint;
  if (run.per_row > 0)
    hint = fmt::format("; try {} and {} smaller than {:g} and {:g}", option_name("regularisation"),
                       option_name("shrinkage"), run.regularisation, run.per_row);
  else if (run.regularisation > 0)
    hint = fmt::format("; try {} smaller than {:g}", option_name("regularisation"), run.regularisation);
  context.warn("the model has vanished" + hint);
}

// Nothing can be learned, and the fit is perfect.
void warn_of_zeros(const Context& context, const report::CpdRun& run) {
  const bool is_implicit = run.options.observed && run.options.observed->alpha;
  context.warn(run.num_nonzeros == 0 ? "the tensor has no nonzeros, so that its model is zero everywhere"
               : is_implicit
                   ? "no value is positive, which would be a preference, so that the model has vanished"
                   : "all values are 0, and so is the model");
}

// As that of nonnegative factors for values that are negative.
void warn_of_vanishing(const Context& context, const DecomposeOptions& options) {
  const bool is_nonnegative = options.nonnegative || !options.nonnegative_modes.empty();
  context.warn(is_nonnegative ? "the model has vanished: without negative factors nothing found is closer to "
                                "these values than zeros, perhaps because most of them are negative"
                              : "the model has vanished: all weights are 0");
}

// Regularisation that suits values which a model describes well is too little for others.
void warn_of_mean(const Context& context, const report::CpdRun& run) {
  const auto& observed = *run.options.observed;
  if (run.held_out_rmse.empty() || run.test_rmse() <= run.held_out_rmse_of_mean) return;
  context.warn(fmt::format(
      "cells that were held out are predicted worse than by the mean of the others (RMSE {:.5g} and {:.5g}); "
      "try {} larger than {:g}{} or fewer components",
      run.test_rmse(), run.held_out_rmse_of_mean, option_name("regularisation"), observed.regularisation,
      observed.has_biases ? "" : ", " + option_name("has_biases")));
}

// Popularity is the best list for data that say no more, and a model that is below it should not be used.
void warn_of_popularity(const Context& context, const RankingMetrics& lists, int order) {
  if (lists.popularity.ndcg <= lists.model.ndcg) return;
  const auto hint =
      order > 2 ? std::string(
                      "perhaps few cells are known of a combination of places of the other modes: "
                      "try without one of these modes")
                : fmt::format("try other {} and {}", option_name("regularisation"), option_name("shrinkage"));
  context.warn(fmt::format(
      "lists of the items with the most cells have an NDCG of {:.4f}, and those of this model {:.4f}; {}",
      lists.popularity.ndcg, lists.model.ndcg, hint));
}

// The tensor and its weights; what is wrong with these is a fault of their file.
template <class Real>
PreparedTensor<Real> prepare_cells_of(const Context& context, SparseTensor<double> share,
                                      const DecomposeOptions& asked_for, const CpRunOptions& options,
                                      const Distribution& distribution) {
  const bool has_weights = asked_for.missing && asked_for.missing->weights;
  if (!has_weights)
    return prepare_observed<Real>(context.comm(), std::move(share), options, context.progress(),
                                  distribution);
  const auto& weights = *asked_for.missing->weights;
  try {
    return prepare_observed<Real>(context.comm(), std::move(share), options, context.progress(), distribution,
                                  weights.tensor);
  } catch (const Error& error) {
    if (error.code() != Errc::bad_input || !error.input().file.empty()) throw;
    throw Error(error.code(), error.message(), {weights.path.empty() ? "weights" : weights.path, 0});
  }
}

// The order of updates is that of the state, whatever this run would choose.
void go_on_from(const Context& context, const io::CheckpointManifest& found, const CheckpointOptions& where,
                CpRunOptions& options) {
  if (found.iteration > options.als.max_iterations)
    tasks::refuse_option(fmt::format("{} {}: the newest checkpoint in {} is of iteration {}",
                                     option_name("max_iterations"), options.als.max_iterations,
                                     where.directory.string(), found.iteration));
  if (options.method == Method::als) options.mode_order = found.mode_order;
  context.note(fmt::format("going on from {} after iteration {}", where.directory.string(), found.iteration));
}

template <class Real>
CpModel decompose_in(const Context& context, Tensor x, const DecomposeOptions& asked_for) {
  const Comm& comm = context.comm();
  const Stopwatch since_call;
  auto options = run_options(asked_for, x.tensor.order());
  const auto device = tasks::choose_device(comm, x.tensor, asked_for);
  options.als.gpu = device.gpu;
  options.read_bytes = x.load_bytes;
  options.extra_bytes = tasks::bytes_beside(x);
  std::optional<tasks::StartModel> given;
  if (asked_for.start_model) {
    given.emplace(context, asked_for, x);
    options.extra_bytes += given->bytes();
  }
  std::optional<tasks::Checkpoints> checkpoints;
  if (asked_for.checkpoint) {
    checkpoints.emplace(context, *asked_for.checkpoint, tasks::checkpoint_identity(context, x, asked_for));
    if (const auto& found = checkpoints->found()) go_on_from(context, *found, *asked_for.checkpoint, options);
  }
  const auto machine = tasks::machine_of_run(comm);
  options.machine = machine.model;
  options.gpu_model = machine.gpu.value_or(GpuModel{});
  const auto max_threads = int(comm.all_reduce(Index(num_threads()), Reduce::max));

  Stopwatch watch;
  const auto chosen = context.progress().during("choosing a distribution", [&] {
    return tasks::decide_distribution(context, x.tensor, distribution_options(asked_for, x.tensor.order()),
                                      options.als.num_components, machine.model, pass_options(options),
                                      memory_limit<Real>(options, max_threads));
  });
  const double decide_seconds = watch.lap();
  std::optional<SplitCells> split;
  if (asked_for.implicit && options.observed->held_out > 0) split = gather_split(comm, x.tensor, options);
  auto prepared =
      options.observed
          ? prepare_cells_of<Real>(context, std::move(x.tensor), asked_for, options, chosen.distribution)
          : prepare<Real>(comm, std::move(x.tensor), options, context.progress(), chosen.distribution);
  prepared.timings.add("choose_distribution", decide_seconds);
  tasks::warn_of_duplicates(context, x, prepared.num_duplicates);

  std::optional<Kruskal<Real>> start_model;
  if (given) {
    start_model = given->rows_of(prepared.tensor);
    if (options.observed) options.observed->start_biases = given->biases_of(prepared.tensor);
  }
  watch.lap();
  if (options.als.start == Start::svd)
    start_model = context.progress().during("computing singular vectors", [&] {
      return singular_start<Real>(prepared.tensor, prepared.chosen.plan, options);
    });
  const double start_seconds = watch.lap();
  tasks::RunControl<Real> run_control(comm, prepared.chosen.plan.mode_order,
                                      checkpoints ? &*checkpoints : nullptr, asked_for.max_seconds,
                                      x.load_seconds + since_call.seconds());
  tasks::CpRunControl<Real> control(prepared.tensor, run_control);
  auto [result, starts, best_seed] =
      iterate_with_progress(context, prepared, options, asked_for.num_starts, asked_for.observer,
                            start_model ? &*start_model : nullptr, control.control());
  result.timings.add("start", start_seconds);
  options.als.seed = best_seed;
  auto run = report::describe_run(prepared, options, result);
  run.starts = std::move(starts);
  if (checkpoints) run.checkpoint = checkpoints->use();
  if (comm.size() > 1) describe_distribution(run, chosen, prepared.loads, prepared.fused, machine.model);
  run.machine = machine.source;
  run.device = device.text;
  if (machine.gpu) run.gpu_bytes_per_second = 1 / machine.gpu->per_copied_byte;
  run.load_seconds = x.load_seconds;
  run.sums_duplicates = x.sums_duplicates;
  run.prepared = {x.duplicate_rule, x.transform, x.min_count};
  auto state = std::make_shared<ModelState<Real>>(context, std::move(x.labels), std::move(prepared),
                                                  std::move(result.model), std::move(result.empty_rows));
  state->input = x.path;
  state->settings = tasks::settings_of(asked_for, x);
  if (const auto fall = fall_text(run); !fall.empty() && !options.observed) context.warn(fall);
  const bool has_vanished = std::ranges::all_of(run.weights, [](double weight) { return weight == 0; });
  if (run.norm == 0)
    warn_of_zeros(context, run);
  else if (options.observed && !run.fit_trajectory.empty())
    warn_of_vanishing(context, *options.observed, run.fit());
  else if (has_vanished)
    warn_of_vanishing(context, asked_for);
  if (options.observed && run.norm > 0) warn_of_mean(context, run);
  run.peak_memory_bytes = comm.all_reduce(peak_memory_bytes(), Reduce::max);
  state->run = std::move(run);
  const CpModel model(state);
  if (split) {
    state->run.ranking = measure_lists(model, *split);
    warn_of_popularity(context, *state->run.ranking, model.order());
  }
  return model;
}

}  // namespace

std::string to_string(StorageFormat format) {
  return std::ranges::find(named_formats, format, &NamedFormat::format)->name;
}

std::span<const StorageFormat> all_storage_formats() {
  static const auto formats = [] {
    std::array<StorageFormat, named_formats.size()> all{};
    std::ranges::transform(named_formats, all.begin(), &NamedFormat::format);
    return all;
  }();
  return formats;
}

void require_finished(const CpModel& model) {
  const auto& run = model.state().run;
  if (!is_cut_short(run.stop)) return;
  tasks::refuse_unfinished(
      run.stop == StopReason::time_limit,
      fmt::format("iteration {} of at most {}", run.fit_trajectory.size(), run.options.als.max_iterations),
      run.checkpoint);
}

CpModel decompose(const Context& context, Tensor x, const DecomposeOptions& options) {
  const tasks::TaskScope scope(context);
  collectively(context.comm(), [&] { validate(options); });  // machines may have different GPUs
  tasks::require_order(x.tensor.order());
  if (options.precision == Precision::float32) return decompose_in<float>(context, std::move(x), options);
  return decompose_in<double>(context, std::move(x), options);
}

}  // namespace polyad
