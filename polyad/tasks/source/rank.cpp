#include "polyad/tasks/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/report/rank_report.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/memory_use.hpp"
#include "polyad/tasks/detail/nonnegative_flags.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

constexpr double max_held_out = 0.5;

ComponentSweepOptions sweep_options(const Context& context, const RankOptions& options, const Tensor& x) {
  ComponentSweepOptions sweep;
  sweep.component_counts = options.ranks.empty() ? usual_component_counts(x.tensor.extents()) : options.ranks;
  sweep.num_starts = options.num_starts;
  sweep.held_out = options.held_out;
  auto& run = sweep.decompose;
  run.als.max_iterations = options.max_iterations;
  run.als.tolerance = options.tolerance;
  run.als.seed = options.seed;
  run.als.start = options.start;
  run.als.nonnegative =
      tasks::nonnegative_flags(options.nonnegative, options.nonnegative_modes, x.tensor.order());
  run.format = to_string(options.format);
  run.max_bytes = options.max_memory_bytes;
  run.machine = tasks::load_machine(context.comm()).model;
  run.read_bytes = x.load_bytes;
  run.extra_bytes = tasks::bytes_beside(x);
  return sweep;
}

// All nonzeros, on every process, those of process 0 first. Collective.
SparseTensor<double> gathered(const Comm& comm, SparseTensor<double> share) {
  if (comm.size() == 1) return share;
  const auto counts = comm.all_gather(share.num_nonzeros());
  const auto total = std::size_t(std::accumulate(counts.begin(), counts.end(), Index(0)));
  const auto all_of = [&]<class Value>(std::span<const Value> own) {
    Array<Value> all(total);
    comm.all_gather_varying<Value>(own, counts, all);
    return all;
  };
  std::vector<Array<Index>> indices;
  for (int m = 0; m < share.order(); ++m) indices.push_back(all_of(std::span<const Index>(share.indices(m))));
  return {share.extents(), std::move(indices), all_of(std::span<const double>(share.values()))};
}

template <class Real>
report::RankRun sweep(const Context& context, Tensor x, const RankOptions& options) {
  report::RankRun run;
  run.options = sweep_options(context, options, x);
  run.load_seconds = x.load_seconds;
  auto whole = gathered(context.comm(), std::move(x.tensor));
  run.result = sweep_components<Real>(context.comm(), std::move(whole), run.options, context.progress(),
                                      options.observer);
  tasks::warn_of_duplicates(context, x, run.result.num_duplicates);
  run.precision = options.precision == Precision::float32 ? "single" : "double";
  run.processes = context.comm().size();
  run.threads = num_threads();
  run.peak_memory_bytes = context.comm().all_reduce(peak_memory_bytes(), Reduce::max);
  return run;
}

}  // namespace

void validate(const RankOptions& options) {
  for (std::size_t i = 0; i < options.ranks.size(); ++i)
    if (options.ranks[i] < 1 || options.ranks[i] > max_rank ||
        (i > 0 && options.ranks[i] <= options.ranks[i - 1]))
      tasks::refuse_option(
          fmt::format("{}: expected ascending numbers from 1 to {}", option_name("ranks"), max_rank));
  tasks::require_num_starts(options.num_starts);
  if (!(options.held_out >= 0 && options.held_out <= max_held_out))
    tasks::refuse_option(fmt::format("{} {}: expected a fraction from 0 to {}", option_name("held_out"),
                                     options.held_out, max_held_out));
  if (options.max_iterations < 1)
    tasks::refuse_option(
        fmt::format("{} {}: expected 1 or more", option_name("max_iterations"), options.max_iterations));
  if (!(options.tolerance >= 0))
    tasks::refuse_option(
        fmt::format("{} {}: expected 0 or more", option_name("tolerance"), options.tolerance));
  tasks::require_enumerator("start", options.start, Start::svd);
  tasks::require_memory_limit(options.max_memory_bytes);
  tasks::require_enumerator("precision", options.precision, Precision::float32);
  tasks::require_enumerator("format", options.format, StorageFormat::hicoo);
}

RankChoice choose_rank(const Context& context, Tensor x, const RankOptions& options) {
  const tasks::TaskScope scope(context);
  const tasks::WatchedMemory memory;
  validate(options);
  tasks::require_order(x.tensor.order());
  auto run = options.precision == Precision::float32 ? sweep<float>(context, std::move(x), options)
                                                     : sweep<double>(context, std::move(x), options);
  if (memory.has_grown()) warn_of_memory(context, run.peak_memory_bytes, options.max_memory_bytes);
  TaskResult texts(report::rank_text(run), tasks::json_text(report::rank_json(run)));
  return {std::move(texts), std::move(run.result.evidence), std::move(run.result.recommendation)};
}

}  // namespace polyad
