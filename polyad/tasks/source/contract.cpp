#include "polyad/tasks/contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/dense/contract_tensors.hpp"
#include "polyad/dense/rearrange.hpp"
#include "polyad/io/arrays/npy_file.hpp"
#include "polyad/report/contraction_report.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/memory_use.hpp"
#include "polyad/tasks/detail/npy_tensors.hpp"
#include "polyad/tasks/detail/output/output_files.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tasks/file_plan.hpp"

namespace polyad {

struct ContractionReport::State {
  report::ContractionRun run;
};

namespace {

// An input of a contraction: its dims, where diagonals have been taken, and how it gets to where it is
// needed.
template <class Real>
struct Operand {
  std::vector<Index> dims;
  std::function<std::shared_ptr<const DenseTensor<Real>>(const ProcessGrid&,
                                                         const dense::TensorDistribution&)>
      place;
};

// What the inputs are, and where they lie before the contraction.
template <class Real>
struct Operands {
  Operand<Real> a, b;
  std::optional<dense::ContractionProblem> problem;  // of tensors that are used where they lie
  std::optional<ProcessGrid> grid;                   // of these tensors
  std::string phase;  // what bringing them there is called: "load", "distribute"
};

// A grid of two modes, as square as possible.
std::vector<int> square_grid(int processes) {
  int rows = int(std::sqrt(double(processes)));
  while (processes % rows != 0) --rows;
  return {rows, processes / rows};
}

GridShape grid_shape(const Comm& comm, const std::vector<int>& dims) {
  GridShape grid(dims.empty() ? square_grid(comm.size()) : dims);
  if (grid.size() != comm.size())
    throw Error(Errc::bad_option,
                fmt::format("{} {} has {} processes, but {} {}", option_name("grid"), to_string(grid),
                            grid.size(), comm.size(), comm.size() == 1 ? "runs" : "run"));
  return grid;
}

void check_dims(const std::vector<Index>& dims) {
  if (std::ssize(dims) > dense::max_dense_order)
    throw Error(Errc::bad_option, fmt::format("{}: expected at most {} dimensions, found {}",
                                              option_name("dims"), dense::max_dense_order, dims.size()));
  for (const Index dim : dims)
    if (dim < 0)
      throw Error(Errc::bad_option, fmt::format("{} {}: expected numbers from 0 on", option_name("dims"),
                                                report::dims_text(dims)));
}

// The constants of the machine, with all threads of a process multiplying; words may be of 4 bytes. Processes
// may have different numbers of threads; all plan with the largest, so that they make the same plan.
// Collective.
dense::DenseMachine dense_machine(const Comm& comm, const MachineModel& model, Index width) {
  dense::DenseMachine machine;
  const double of_a_double = double(width) / sizeof(double);
  machine.per_message = model.per_message;
  machine.per_word = model.per_word * of_a_double;
  machine.per_copied_word = model.per_packed_word * of_a_double;
  machine.per_flop =
      model.per_flop * of_a_double / double(comm.all_reduce(Index(num_threads()), Reduce::max));
  return machine;
}

dense::ContractionChoice choice_of(const ContractOptions& options, const dense::DenseMachine& machine,
                                   Index width) {
  dense::ContractionChoice choice;
  choice.machine = machine;
  if (options.stationary == StationaryTensor::a) choice.stationary = dense::Stationary::a;
  if (options.stationary == StationaryTensor::b) choice.stationary = dense::Stationary::b;
  if (options.stationary == StationaryTensor::c) choice.stationary = dense::Stationary::c;
  if (options.max_memory_bytes > 0) choice.max_bytes = options.max_memory_bytes;
  choice.element_bytes = width;
  return choice;
}

template <class Real>
dense::BlockedContraction choose(const Comm& comm, const ContractOptions& options,
                                 const dense::ContractionExpression& expression,
                                 const Operands<Real>& operands, const dense::ContractionChoice& choice) {
  if (operands.problem) return dense::choose_contraction(*operands.problem, choice);
  const auto &a = operands.a.dims, &b = operands.b.dims;
  if (options.grid.empty()) return dense::choose_contraction(expression, a, b, comm.size(), choice);
  return dense::choose_contraction(dense::canonical_problem(expression, grid_shape(comm, options.grid), a, b),
                                   choice);
}

// Throws Error{bad_input} when the result has overflowed. Collective.
template <class Real>
double norm_of(const DenseTensor<Real>& x) {
  const Comm& comm = x.grid().comm();
  double largest = 0, sum = 0;
  for (const Real value : x.local())  // what is not a number stays
    largest = std::isfinite(value) ? std::max(largest, double(std::abs(value))) : HUGE_VAL;
  largest = comm.all_reduce(largest, Reduce::max);
  // Copies are left out: only scalars have them. Squares of large numbers would overflow.
  if (largest > 0 && (x.order() > 0 || comm.rank() == 0))
    for (const Real value : x.local()) sum += double(value) / largest * (double(value) / largest);
  const double norm = std::sqrt(comm.all_reduce(sum)) * largest;
  if (!std::isfinite(norm))
    throw Error(Errc::bad_input,
                std::string("the result has numbers that are too large for ") +
                    (sizeof(Real) == 4 ? "single precision: give the inputs as f8" : "double precision"));
  return norm;
}

// Counted and planned words must be the same. Collective.
void check_words(const Comm& comm, const dense::DenseTally& tally, Index width, report::ContractionRun& run) {
  run.words = comm.all_reduce(tally.words);
  run.max_words = comm.all_reduce(tally.words, Reduce::max);
  run.predicted_words = comm.all_reduce(dense::planned_words(run.plan, comm.rank()));
  if (run.words != run.predicted_words)
    throw Error(Errc::internal,
                fmt::format("{} words were moved, but {} were planned", run.words, run.predicted_words));
  const Index resident = dense::resident_elements(run.plan.problem);
  run.working_bytes = (resident + comm.all_reduce(tally.max_elements, Reduce::max)) * width;
  run.predicted_bytes = (resident + dense::working_elements(run.plan)) * width;
}

// The size of the result is known before anything is read. Collective.
void check_place(const Comm& comm, const ContractOptions& options, const dense::ContractionProblem& problem,
                 Index width) {
  if (options.out.empty()) return;
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    FilePlan().writes(option_name("out"), options.out, options.existing).check();
    io::check_placed_file(options.out);
    double bytes = double(width);
    for (const Index extent : problem.extents_of(problem.expression.c)) bytes *= double(extent);
    tasks::require_space(options.out, bytes, "the result takes");
  });
}

template <class Real>
DenseTensor<Real> execute(const Context& context, const Operands<Real>& operands,
                          report::ContractionRun& run) {
  const Comm& comm = context.comm();
  const auto& problem = run.plan.problem;
  const ProcessGrid grid = operands.grid ? *operands.grid : ProcessGrid(comm, problem.grid);
  auto& progress = context.progress();
  const auto placed = run.timings.measure(operands.phase, [&] {
    return progress.during(operands.phase == "load" ? "reading" : "moving", [&] {
      auto a = operands.a.place(grid, problem.a);  // collective: in this order
      auto b = operands.b.place(grid, problem.b);
      return std::pair(std::move(a), std::move(b));
    });
  });
  DenseTensor<Real> c(grid, problem.extents_of(problem.expression.c), problem.c);
  std::ranges::fill(c.local(), Real(0));
  dense::DenseTally tally;
  comm.barrier();
  progress.begin("contracting");
  run.timings.measure("contract", [&] {
    dense::contract(c, *placed.first, *placed.second, run.plan, tally);
    comm.barrier();
  });
  progress.finish();
  check_words(comm, tally, sizeof(Real), run);
  run.norm = norm_of(c);
  return c;
}

// Collective.
void finish(const Comm& comm, report::ContractionRun& run) {
  Timings longest;
  for (const auto& [phase, seconds] : run.timings.phases())
    longest.add(phase, comm.all_reduce(seconds, Reduce::max));
  run.timings = longest;
  run.processes = comm.size();
  run.threads = num_threads();
  run.peak_memory_bytes = comm.all_reduce(peak_memory_bytes(), Reduce::max);
}

template <class Real>
Contraction<Real> run_contraction(const Context& context, const dense::ContractionExpression& expression,
                                  const Operands<Real>& operands, const ContractOptions& options) {
  const Comm& comm = context.comm();
  constexpr Index width = sizeof(Real);
  tasks::require_memory_limit(options.max_memory_bytes);
  tasks::require_enumerator("stationary", options.stationary, StationaryTensor::c);
  const auto known = tasks::machine_of_run(comm);
  const auto machine = dense_machine(comm, known.model, width);
  report::ContractionRun run(expression, collectively(comm, [&] {
                               return choose(comm, options, dense::of_diagonals(expression), operands,
                                             choice_of(options, machine, width));
                             }));
  check_place(comm, options, run.plan.problem, width);
  run.out = options.out.string();
  run.machine = machine;
  run.machine_source = known.source;
  run.precision = width == sizeof(double) ? "double" : "single";
  run.predicted_seconds = predicted_seconds(run.plan, machine);
  run.flops = dense::total_flops(run.plan.problem);
  if (options.on_plan) tasks::call_back(comm, [&] { options.on_plan(report::contraction_derivation(run)); });
  auto c = execute(context, operands, run);
  if (!options.out.empty())
    run.timings.measure("write", [&] { save(context, c, options.out, options.existing); });
  finish(comm, run);
  return {std::move(c), ContractionReport(std::make_shared<ContractionReport::State>(std::move(run)))};
}

// The tensor, or the diagonal of it that its indices take. The tensor must outlive the result.
template <class Real>
std::shared_ptr<const DenseTensor<Real>> with_distinct_indices(const DenseTensor<Real>& x,
                                                               const dense::IndexNames& indices) {
  if (dense::distinct_indices(indices).size() == indices.size()) return {std::shared_ptr<void>(), &x};
  return std::make_shared<DenseTensor<Real>>(dense::diagonal(x, dense::first_places(indices)));
}

template <class Real>
Operand<Real> in_memory(const std::shared_ptr<const DenseTensor<Real>>& x) {
  const auto place = [x](const ProcessGrid& grid, const dense::TensorDistribution& distribution) {
    if (x->layout().grid == grid.shape() && x->distribution() == distribution) return x;
    return std::shared_ptr<const DenseTensor<Real>>(
        std::make_shared<DenseTensor<Real>>(dense::move_to_grid(*x, grid, distribution)));
  };
  return {x->extents(), place};
}

void check_order(const std::string& name, const dense::IndexNames& indices, int order) {
  if (std::ssize(indices) != order)
    throw Error(Errc::bad_option,
                fmt::format("{} has {}, but {} in the expression", name, report::counted(order, "mode"),
                            indices.size() == 1 ? "1 index" : fmt::format("{} indices", indices.size())));
}

template <class Real>
Operands<Real> operands_in_files(const tasks::NpyInput& a, const tasks::NpyInput& b) {
  const auto operand = [](const tasks::NpyInput& file) {
    return Operand<Real>{
        file.shape(), [&file](const ProcessGrid& grid, const dense::TensorDistribution& distribution) {
          return std::make_shared<const DenseTensor<Real>>(file.read<Real>(grid, distribution));
        }};
  };
  return {operand(a), operand(b), {}, {}, "load"};
}

}  // namespace

template <class Real>
DenseTensor<Real> make_dense(const Context& context, std::vector<Index> dims, const std::vector<int>& grid) {
  return collectively(context.comm(), [&] {
    check_dims(dims);
    const ProcessGrid processes(context.comm(), grid_shape(context.comm(), grid));
    const auto distribution = dense::canonical_distribution(int(dims.size()), processes.shape().order());
    DenseTensor<Real> x(processes, std::move(dims), distribution);
    std::ranges::fill(x.local(), Real(0));
    return x;
  });
}

template <class Real>
Array<Real> gather(const Context& context, const DenseTensor<Real>& x) {
  const tasks::TaskScope scope(context);
  return dense::gather_elements(x);
}

template <class Real>
DenseTensor<Real> load_dense(const Context& context, const std::filesystem::path& path,
                             const std::vector<int>& grid) {
  const tasks::TaskScope scope(context);
  const Comm& comm = context.comm();
  tasks::require_same_files(comm, {path.string()});
  const tasks::NpyInput file = collectively(comm, [&] { return tasks::NpyInput(path); });
  const auto processes = collectively(comm, [&] {
    check_dims(file.shape());
    return ProcessGrid(comm, grid_shape(comm, grid));
  });
  return context.progress().during("reading " + path.filename().string(), [&] {
    return file.read<Real>(
        processes, dense::canonical_distribution(int(file.shape().size()), processes.shape().order()));
  });
}

template <class Real>
void save(const Context& context, const DenseTensor<Real>& x, const std::filesystem::path& path,
          Existing existing) {
  const tasks::TaskScope scope(context);
  context.progress().begin("writing " + path.string());
  tasks::write_npy(x, path, existing);
  context.progress().finish();
}

template <class Real>
Contraction<Real> contract(const Context& context, const std::string& expression, const DenseTensor<Real>& a,
                           const DenseTensor<Real>& b, const ContractOptions& options) {
  const tasks::TaskScope scope(context);
  const Comm& comm = context.comm();
  const auto parsed = collectively(comm, [&] {
    auto result = dense::parse_contraction(expression);
    check_order(result.name_a, result.a, a.order());
    check_order(result.name_b, result.b, b.order());
    return result;
  });
  const auto left = with_distinct_indices(a, parsed.a), right = with_distinct_indices(b, parsed.b);
  Operands<Real> operands{in_memory(left), in_memory(right), {}, {}, "distribute"};
  if (options.grid.empty() && left->layout().grid == right->layout().grid) {
    auto problem = collectively(comm, [&] {
      return dense::canonical_problem(dense::of_diagonals(parsed), left->layout().grid, left->extents(),
                                      right->extents());
    });
    problem.a = left->distribution();
    problem.b = right->distribution();
    operands.problem = std::move(problem);
    operands.grid = left->grid();
  }
  return run_contraction(context, parsed, operands, options);
}

ContractionReport contract_files(const Context& context, const std::string& expression,
                                 const std::filesystem::path& a, const std::filesystem::path& b,
                                 const ContractOptions& options) {
  const tasks::TaskScope scope(context);
  const tasks::WatchedMemory memory;
  const Comm& comm = context.comm();
  const auto parsed = collectively(comm, [&] { return dense::parse_contraction(expression); });
  collectively(comm, [&] {
    if (comm.rank() == 0)
      FilePlan()
          .reads("the first input", a)
          .reads("the second input", b)
          .writes(option_name("out"), options.out, options.existing)
          .check();
  });
  tasks::require_same_files(comm, {a.string(), b.string()});
  const auto files =
      collectively(comm, [&] {  // braces: the first is read first, so that its fault is reported
        return std::pair{tasks::NpyInput(a, parsed.a), tasks::NpyInput(b, parsed.b)};
      });
  const bool is_single = std::max(files.first.width(), files.second.width()) == sizeof(float);
  auto report =
      is_single
          ? run_contraction(context, parsed, operands_in_files<float>(files.first, files.second), options)
                .report
          : run_contraction(context, parsed, operands_in_files<double>(files.first, files.second), options)
                .report;
  // The limit is for tensors and messages, so that what the program itself takes is left out.
  const Index taken = comm.all_reduce(peak_memory_bytes() - program_bytes(), Reduce::max);
  const bool has_grown = comm.all_reduce(Index(memory.has_grown()), Reduce::max) == 1;
  if (has_grown) warn_of_memory(context, taken, options.max_memory_bytes);
  return report;
}

std::string ContractionReport::expression() const {
  return to_string(state_->run.expression);
}

std::vector<Index> ContractionReport::dims() const {
  const auto& problem = state_->run.plan.problem;
  return problem.extents_of(problem.expression.c);
}

double ContractionReport::norm() const {
  return state_->run.norm;
}

Index ContractionReport::moved_elements() const {
  return state_->run.words;
}

std::string ContractionReport::summary() const {
  return report::contraction_text(state_->run);
}

std::string ContractionReport::derivation() const {
  return report::contraction_derivation(state_->run);
}

std::string ContractionReport::json() const {
  return tasks::json_text(report::contraction_json(state_->run));
}

template DenseTensor<float> make_dense(const Context&, std::vector<Index>, const std::vector<int>&);
template Array<float> gather(const Context&, const DenseTensor<float>&);
template DenseTensor<float> load_dense(const Context&, const std::filesystem::path&, const std::vector<int>&);
template void save(const Context&, const DenseTensor<float>&, const std::filesystem::path&, Existing);
template Contraction<float> contract(const Context&, const std::string&, const DenseTensor<float>&,
                                     const DenseTensor<float>&, const ContractOptions&);
template DenseTensor<double> make_dense(const Context&, std::vector<Index>, const std::vector<int>&);
template Array<double> gather(const Context&, const DenseTensor<double>&);
template DenseTensor<double> load_dense(const Context&, const std::filesystem::path&,
                                        const std::vector<int>&);
template void save(const Context&, const DenseTensor<double>&, const std::filesystem::path&, Existing);
template Contraction<double> contract(const Context&, const std::string&, const DenseTensor<double>&,
                                      const DenseTensor<double>&, const ContractOptions&);

}  // namespace polyad
