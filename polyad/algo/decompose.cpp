#include "polyad/algo/decompose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "polyad/algo/cp_opt.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/dist/sketches_of_all.hpp"
#include "polyad/kernels/factor.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

[[noreturn]] void refuse(const std::vector<FormatOption>& options, const DecomposeOptions& wanted) {
  throw Error(Errc::resource,
              fmt::format("the decomposition does not fit into {} in format {}; predicted are\n{}",
                          with_prefix(double(wanted.max_bytes), "B"), wanted.format, format_table(options)));
}

// Lists what the formats would take for the nonzeros that this process holds.
template <class Real>
class FormatLister {
 public:
  FormatLister(const Comm& comm, const LocalNonzeros<Real>& x, const DecomposeOptions& options)
      : comm_(comm), x_(x), options_(options), n_(padded_components(options.als.num_components)) {
    for (const auto& exchange : x.exchanges) {
      rows_.emplace_back(exchange.rows);
      all_rows_.push_back(comm.all_reduce(exchange.num_owned));
    }
    for (const auto& tensor : x.tensors) sketches_.push_back(sketch_fibers<Real>(tensor, rows_, all_rows_));
  }

  // From the whole tensor, so that it is the same however that is distributed. Collective.
  std::vector<int> mode_order() const {
    if (!options_.mode_order.empty()) return options_.mode_order;
    if (is_opt()) return natural_mode_order(int(all_rows_.size()));
    auto whole = sketches_.front();
    merge_over(comm_, std::views::values(whole));
    return choose_mode_order(shape_of(all_rows_, x_.num_nonzeros, whole), n_);
  }

  std::vector<FormatOption> list(const std::vector<int>& mode_order) const {
    // With CP-OPT rows are never solved in the pass that sums them.
    std::vector<bool> is_folded;
    for (const auto& exchange : x_.exchanges) is_folded.push_back(exchange.folds || is_opt());
    std::vector<AlsCost> costs;
    for (std::size_t t = 0; t < x_.tensors.size(); ++t) costs.push_back(cost(t));
    auto formats =
        is_coarse() ? list_coarse_formats(costs, mode_order) : list_formats(costs[0], mode_order, is_folded);
    if (is_opt()) plan_evaluations(formats);
    for (auto& format : formats) format.work_bytes += options_.extra_bytes;
    return formats;
  }

 private:
  bool is_opt() const { return options_.method == Method::opt; }
  bool is_coarse() const { return x_.tensors.size() > 1; }

  AlsCost cost(std::size_t t) const {
    const auto& tensor = x_.tensors[t];
    auto shape = shape_of(tensor.extents(), tensor.num_nonzeros(), sketches_[t]);
    shape.num_blocks = estimate_blocks(tensor);
    return {shape, {n_, sizeof(Real), num_threads()}};
  }

  // For all factors at once: an MTTKRP per mode and no more, and vectors as long as all factors.
  void plan_evaluations(std::vector<FormatOption>& formats) const {
    Index num_rows = 0;
    for (const auto& rows : rows_) num_rows += std::ssize(rows);
    for (auto& format : formats) {
      format.plan = plain_plan(format.plan.mode_order, format.plan.trees);
      if (!is_coarse() && format.format == Format::csf) format.seconds = cost(0).seconds(format.plan);
      format.work_bytes =
          cost(0).work_bytes(format.plan) + num_cp_opt_vectors * num_rows * n_ * Index(sizeof(Real));
    }
  }

  const Comm& comm_;
  const LocalNonzeros<Real>& x_;
  const DecomposeOptions& options_;
  Index n_;
  std::vector<std::span<const Index>> rows_;  // [mode]
  std::vector<Index> all_rows_;               // [mode]: of the whole tensor
  std::vector<FiberSketches> sketches_;       // [local tensor]
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
FormatChoice choose_for(const Comm& comm, const LocalNonzeros<Real>& x, const DecomposeOptions& options) {
  const FormatLister<Real> lister(comm, x, options);
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
FormatChoice suggest_format(SparseTensor<double> x, const DecomposeOptions& options) {
  std::vector<SparseTensor<double>> whole;
  whole.push_back(std::move(x));
  return choose_for(Comm::self(), localise<Real>(Comm::self(), std::move(whole), {}), options);
}

template <class Real>
PreparedTensor<Real> prepare(const Comm& comm, SparseTensor<double> share, const DecomposeOptions& options,
                             Progress& progress, const Distribution& distribution) {
  Timings timings;
  const auto extents = share.extents();
  const auto phase = [&](const std::string& name, const std::string& doing, auto fn) {
    return timings.measure(name, [&] { return progress.during(doing, fn); });
  };
  auto moved = phase("distribute", "moving nonzeros",
                     [&] { return move_to_owners(comm, std::move(share), distribution); });
  auto x = phase("compress", "sorting", [&] { return localise<Real>(comm, std::move(moved), distribution); });
  auto choice = phase("choose", "counting fibers", [&] { return choose_for(comm, x, options); });
  const auto& chosen = choice.chosen;
  auto locals = phase("compress", "building " + chosen.name,
                      [&] { return build_locals(std::move(x.tensors), chosen); });
  return {DistTensor<Real>(comm, extents, x, std::move(locals)),
          chosen,
          std::move(choice.options),
          x.num_duplicates,
          std::move(x.loads),
          std::move(timings)};
}

template <class Real>
CpResult<Real> decompose(const PreparedTensor<Real>& x, const DecomposeOptions& options,
                         const CpObserver& observe) {
  if (options.method == Method::opt) return cp_opt<Real>(x.tensor, options.als, observe);
  return cp_als<Real>(x.tensor, x.chosen.plan, options.als, observe);
}

std::string format_table(const std::vector<FormatOption>& options) {
  std::string text = fmt::format("  {:<8} {:>16} {:>12} {:>12}", "format", "per iteration", "tensor", "peak");
  for (const auto& option : options)
    text += fmt::format("\n  {:<8} {:>13.4g} ms {:>12} {:>12}", option.name, 1e3 * option.seconds,
                        with_prefix(double(option.format_bytes), "B"),
                        with_prefix(double(option.peak_bytes()), "B"));
  return text;
}

template FormatChoice suggest_format<float>(SparseTensor<double>, const DecomposeOptions&);
template FormatChoice suggest_format<double>(SparseTensor<double>, const DecomposeOptions&);
template PreparedTensor<float> prepare(const Comm&, SparseTensor<double>, const DecomposeOptions&, Progress&,
                                       const Distribution&);
template PreparedTensor<double> prepare(const Comm&, SparseTensor<double>, const DecomposeOptions&, Progress&,
                                        const Distribution&);
template CpResult<float> decompose(const PreparedTensor<float>&, const DecomposeOptions&, const CpObserver&);
template CpResult<double> decompose(const PreparedTensor<double>&, const DecomposeOptions&,
                                    const CpObserver&);

}  // namespace polyad
