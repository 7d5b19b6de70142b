#include "polyad/algo/cp/prepare_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "polyad/algo/cp/cp_opt.hpp"
#include "polyad/algo/cp/singular_vectors.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/distributed/sketches_of_all.hpp"
#include "polyad/gpu/chunked_nonzeros.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/kernels/cp/row_systems.hpp"
#include "polyad/plan/gpu_cost.hpp"
#include "polyad/plan/plan_evaluation.hpp"
#include "polyad/plan/stage_memory.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

[[noreturn]] void refuse(const std::vector<FormatOption>& options, const CpRunOptions& wanted, Index limit) {
  const bool is_machine = wanted.max_bytes == 0;
  throw Error(Errc::resource,
              fmt::format("the decomposition does not fit into {}{} in format {}; predicted are\n{}",
                          with_prefix(double(limit), "B"),
                          is_machine ? ", the memory of this machine for each of its processes," : "",
                          wanted.format, format_table(options)));
}

// What a process may use: what was asked for, or its part of the machine. Collective.
Index memory_limit(const Comm& comm, const CpRunOptions& options) {
  if (options.max_bytes > 0) return options.max_bytes;
  return comm.all_reduce(memory_to_plan_with() / comm.split_by_machine().size(), Reduce::min);
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
    result.num_lent.push_back(exchange.rows_expanded());
    result.num_travelling.push_back(exchange.num_travelling());
    result.num_folded.push_back(exchange.rows_folded());
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

// Sets the nodes of the parts in these trees, which are estimated as the shapes are. Collective.
void set_nodes(const Comm& comm, const NonzeroShapes& shapes, const std::vector<std::vector<int>>& trees,
               PartLoads& loads) {
  for (std::size_t m = 0; m < trees.size(); ++m) {
    const auto& local = shapes.locals[shapes.locals.size() == 1 ? 0 : m];
    loads[m].nodes = comm.all_gather(Index(inner_nodes(local, trees[m])));
    loads[m].nodes_per_nonzero =
        inner_nodes(shapes.whole, trees[m]) / std::max(1.0, double(shapes.whole.num_nonzeros));
  }
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

  std::vector<FormatOption> list(const std::vector<int>& mode_order, bool may_keep_sums) const {
    std::vector<AlsCost> costs;
    for (std::size_t t = 0; t < shapes_.locals.size(); ++t) costs.push_back(cost(t, may_keep_sums));
    auto formats = is_coarse() ? list_coarse_formats(costs, mode_order)
                               : list_formats(costs[0], mode_order, is_opt() ? plan_evaluation : plan_csf);
    if (is_opt() && is_coarse()) plan_evaluations(formats);
    if (options_.als.gpu) plan_root_passes(formats);
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
  AlsCost cost(std::size_t t, bool may_keep_sums) const {
    const auto complete = is_opt() ? std::vector<double>(shapes_.complete.size(), 0) : shapes_.complete;
    const bool fuses = pass_options(options_).can_fuse;
    return {shapes_.locals[t],
            {n_, sizeof(Real), num_threads(), complete, may_keep_sums && fuses, options_.machine}};
  }

  // Memory of systems that are added up: of all rows of a mode that has no tree of its own, else of those
  // that other processes have cells of; and of those under way.
  Index system_bytes(const FormatOption& format) const {
    const bool has_trees = is_coarse() ? format.format == Format::csf : format.name == "csf-all";
    Index num_systems = 0;
    for (std::size_t m = 0; m < shapes_.num_rows.size(); ++m) {
      const Index lent = is_coarse() ? 0 : shapes_.num_lent[m],
                  travelling = is_coarse() ? 0 : shapes_.num_travelling[m];
      num_systems =
          std::max(num_systems, lent + travelling + (has_trees ? lent + travelling : shapes_.num_rows[m]));
    }
    return basis_bytes(format) +
           num_systems * Index(sizeof(Real)) *
               kernels::words_of_system(options_.als.num_components, options_.observed->has_biases);
  }

  // Of matrices of implicit feedback: rows of the other mode in the basis in which rows with few cells are
  // solved, of one tree at a time.
  Index basis_bytes(const FormatOption& format) const {
    if (!options_.observed->alpha || shapes_.whole.order() != 2) return 0;
    Index bytes = 0;
    for (const auto& tree : format.plan.trees)
      bytes = std::max(
          bytes, kernels::dual_basis_bytes<Real>(options_.als.num_components, shapes_.num_rows[tree.back()]));
    return bytes;
  }

  StageNeeds stage_needs() const {
    const Index num_wanted = options_.als.num_components;
    StageNeeds needs{.rows = shapes_.num_rows, .num_components = num_wanted, .value_bytes = sizeof(Real)};
    // Rows that are lent, and copies of those that travel: without padding, from a GPU, or to where
    // neighbours read them.
    for (std::size_t m = 0; m < shapes_.num_lent.size(); ++m)
      needs.rows_under_way.push_back(shapes_.num_lent[m] + (num_wanted == n_ && !options_.als.gpu
                                                                ? shapes_.num_folded[m]
                                                                : shapes_.num_travelling[m]));
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

  // In coarse grain each tree serves its own mode. Rows are not updated in its pass.
  void plan_evaluations(std::vector<FormatOption>& formats) const {
    for (auto& format : formats) {
      for (auto& step : format.plan.steps)
        if (step.kind == AlsStep::Kind::root) step = {AlsStep::Kind::levels, step.mode, step.tree, 1};
      format.work_bytes = cost(0, false).work_bytes(format.plan);
    }
  }

  // On a GPU every mode has a tree, in whose pass its rows are summed. The nonzeros of a mode at a time are
  // copied as it stores them.
  void plan_root_passes(std::vector<FormatOption>& formats) const {
    std::erase_if(formats, [&](const FormatOption& format) {
      return format.name != (is_coarse() ? "csf" : "csf-all");
    });
    Index copy_bytes = 0;
    for (const auto& local : shapes_.locals)
      copy_bytes = std::max(copy_bytes, gpu::chunked_bytes(local.order(), local.num_nonzeros,
                                                           std::ranges::max(local.rows), sizeof(Real)));
    for (auto& format : formats) {
      format.work_bytes += copy_bytes;
      auto& [mode_order, trees, steps] = format.plan;
      steps.clear();
      for (const int mode : mode_order) {
        const auto tree = std::ranges::find(trees, mode, [](const auto& modes) { return modes.front(); });
        steps.push_back({AlsStep::Kind::root, mode, int(tree - trees.begin())});
      }
      format.seconds = 0;
      for (const auto& step : steps)
        format.seconds += gpu_mode_seconds(shapes_.locals[is_coarse() ? step.mode : 0], trees[step.tree],
                                           {n_, Index(sizeof(Real))}, options_.gpu_model);
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
  const auto mode_order = lister.mode_order();
  auto formats = lister.list(mode_order, true);
  if (options.format != "auto" &&
      std::ranges::find(formats, options.format, &FormatOption::name) == formats.end())
    throw Error(Errc::bad_option,
                options.als.gpu
                    ? "in coarse grain a GPU has a format of its own, not " + options.format
                    : "in coarse grain the formats are csf, coo and hicoo, not " + options.format);
  take_largest(comm, formats);
  const Index limit = memory_limit(comm, options);
  auto chosen = choose_format(formats, options.format, limit);
  if (options.max_bytes > 0 || !chosen) {  // sums that are kept may be what does not fit
    auto smaller = lister.list(mode_order, false);
    take_largest(comm, smaller);
    const auto other = choose_format(smaller, options.format, limit);
    if (!chosen || (other && usual_seconds(*other) < usual_seconds(*chosen))) {
      chosen = other;
      formats = std::move(smaller);
    }
  }
  if (!chosen) refuse(formats, options, limit);
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

PassOptions pass_options(const CpRunOptions& options) {
  // With one or two trees, few passes can serve two modes.
  const bool has_trees = options.format == "auto" || options.format == "csf" || options.format == "csf-all";
  return {has_trees && options.method == Method::als && !options.observed && !options.als.gpu,
          options.mode_order};
}

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
  auto fused = fused_passes(shapes_->whole, pass_options(options), options.als.num_components);
  set_nodes(comm_, *shapes_, fused.trees, x->loads);
  prepared_.emplace(PreparedTensor<Real>{DistTensor<Real>(comm_, extents_, *x, std::move(locals)),
                                         std::move(choice.chosen), std::move(choice.options),
                                         x->num_duplicates, std::move(x->loads), std::move(fused),
                                         std::move(timings_)});
  return *prepared_;
}

template <class Real>
PreparedTensor<Real> prepare(const Comm& comm, SparseTensor<double> share, const CpRunOptions& options,
                             Progress& progress, const Distribution& distribution) {
  TensorPreparer<Real> preparer(
      comm, [&] { return std::move(share); }, &distribution);
  return std::move(preparer.prepare(options, progress));
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
template class TensorPreparer<float>;
template class TensorPreparer<double>;

}  // namespace polyad
