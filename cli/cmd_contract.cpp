#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands.hpp"
#include "cli/contract_report.hpp"
#include "cli/input.hpp"
#include "cli/npy_tensors.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/dense/contract_tensors.hpp"
#include "polyad/io/arrays/npy_file.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/memory_use.hpp"
#include "polyad/tasks/detail/output_files.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  std::string expression, a, b, out, grid = "auto", stationary = "auto", memory;
  bool explain = false, force = false;
};

using Inputs = std::pair<NpyInput, NpyInput>;

// The constants of the machine, with all threads of a process multiplying; words may be of 4 bytes. Processes
// may have different numbers of threads; they all reckon with the largest, so that they make the same plan.
// Collective.
DenseMachine dense_machine(const Comm& comm, const MachineModel& model, Index width) {
  DenseMachine machine;
  const double of_a_double = double(width) / sizeof(double);
  machine.per_message = model.per_message;
  machine.per_word = model.per_word * of_a_double;
  machine.per_copied_word = model.per_packed_word * of_a_double;
  machine.per_flop =
      model.per_flop * of_a_double / double(comm.all_reduce(Index(num_threads()), Reduce::max));
  return machine;
}

ContractionChoice choice_of(const Args& args, const DenseMachine& machine, Index width) {
  ContractionChoice choice;
  choice.machine = machine;
  if (args.stationary != "auto")
    choice.stationary = args.stationary == "a"   ? Stationary::a
                        : args.stationary == "b" ? Stationary::b
                                                 : Stationary::c;
  if (!args.memory.empty()) choice.max_bytes = parse_bytes(args.memory, "--memory");
  choice.element_bytes = width;
  return choice;
}

GridShape parse_grid(const std::string& text, const Comm& comm) {
  auto grid = parse_grid_shape(text);
  if (grid.size() != comm.size())
    throw Error(Errc::bad_option, fmt::format("--grid {} has {} processes, but {} {}", text, grid.size(),
                                              comm.size(), comm.size() == 1 ? "runs" : "run"));
  return grid;
}

BlockedContraction choose(const Comm& comm, const Args& args, const ContractionExpression& expression,
                          const Inputs& inputs, const ContractionChoice& choice) {
  const auto &a = inputs.first.shape(), &b = inputs.second.shape();
  if (args.grid == "auto") return choose_contraction(expression, a, b, comm.size(), choice);
  return choose_contraction(canonical_problem(expression, parse_grid(args.grid, comm), a, b), choice);
}

// Throws Error{bad_input} when the result has overflowed. Collective.
template <class Real>
double norm_of(const DenseTensor<Real>& x) {
  const Comm& comm = x.grid().comm();
  double largest = 0, sum = 0;
  for (const Real value : x.local())  // what is no number stays
    largest = std::isfinite(value) ? std::max(largest, double(std::abs(value))) : HUGE_VAL;
  largest = comm.all_reduce(largest, Reduce::max);
  // Replicas are left away: only scalars have them. Squares of large numbers would overflow.
  if (largest > 0 && (x.order() > 0 || comm.rank() == 0))
    for (const Real value : x.local()) sum += double(value) / largest * (double(value) / largest);
  const double norm = std::sqrt(comm.all_reduce(sum)) * largest;
  if (!std::isfinite(norm))
    throw Error(Errc::bad_input,
                std::string("the result has numbers that are too large for ") +
                    (sizeof(Real) == 4 ? "single precision: give the inputs as f8" : "double precision"));
  return norm;
}

// Counted and planned words must be the same, as everywhere in Polyad.
void settle(const Comm& comm, const DenseTally& tally, Index width, ContractRun& run) {
  run.words = comm.all_reduce(tally.words);
  run.max_words = comm.all_reduce(tally.words, Reduce::max);
  run.predicted_words = comm.all_reduce(planned_words(run.plan, comm.rank()));
  if (run.words != run.predicted_words)
    throw Error(Errc::internal,
                fmt::format("{} words were moved, but {} were planned", run.words, run.predicted_words));
  const Index resident = resident_elements(run.plan.problem);
  run.working_bytes = (resident + comm.all_reduce(tally.max_elements, Reduce::max)) * width;
  run.predicted_bytes = (resident + working_elements(run.plan)) * width;
}

template <class Real>
void contract_files(const Comm& comm, const Args& args, const Inputs& files, ContractRun& run,
                    Console& console) {
  const auto& problem = run.plan.problem;
  const ProcessGrid grid(comm, problem.grid);
  auto& progress = console.progress();
  const auto inputs = run.timings.measure("load", [&] {
    return progress.during("reading", [&] {
      auto a = files.first.read<Real>(grid, problem.a);  // collective: in this order
      auto b = files.second.read<Real>(grid, problem.b);
      return std::pair(std::move(a), std::move(b));
    });
  });
  DenseTensor<Real> c(grid, problem.extents_of(problem.expression.c), problem.c);
  std::ranges::fill(c.local(), Real(0));
  DenseTally tally;
  comm.barrier();
  progress.begin("contracting");
  run.timings.measure("contract", [&] {
    contract(c, inputs.first, inputs.second, run.plan, tally);
    comm.barrier();
  });
  progress.finish();
  settle(comm, tally, sizeof(Real), run);
  run.norm = norm_of(c);
  if (args.out.empty()) return;
  progress.begin("writing " + args.out);
  run.timings.measure("write", [&] { write_npy(c, args.out, existing(args.force)); });
  progress.finish();
}

FilePlan file_plan(const Args& args) {
  FilePlan plan;
  plan.reads("the first input", args.a).reads("the second input", args.b);
  plan.reads("the constants of this machine", tasks::machine_file());
  return plan.writes("--out", args.out, existing(args.force));
}

// --memory is for tensors and messages, so that what the program itself takes is left away. Collective.
void check_memory(const Comm& comm, const Args& args, const Console& console) {
  if (args.memory.empty()) return;
  const Index taken = comm.all_reduce(peak_memory_bytes() - program_bytes(), Reduce::max);
  tasks::warn_of_memory(console.context(), taken, parse_bytes(args.memory, "--memory"));
}

// The size of the result is known before anything is read.
void check_output(const Comm& comm, const Args& args, const ContractionProblem& problem, Index width) {
  if (args.out.empty()) return;
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    io::check_placed_file(args.out);
    double bytes = double(width);
    for (const Index extent : problem.extents_of(problem.expression.c)) bytes *= double(extent);
    tasks::require_space(args.out, bytes, "the result takes");
  });
}

void run(const Comm& comm, const Args& args) {
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args); }));
  const auto expression = collectively(comm, [&] { return parse_contraction(args.expression); });
  tasks::require_same_files(comm, {args.a, args.b});
  const auto files = collectively(comm, [&] {
    return Inputs{NpyInput(args.a, expression.a), NpyInput(args.b, expression.b)};
  });
  const Index width = std::max(files.first.width(), files.second.width());
  const auto known = tasks::load_machine(comm);
  const auto machine = dense_machine(comm, known.model, width);
  ContractRun result(expression, collectively(comm, [&] {
                       return choose(comm, args, of_diagonals(expression), files,
                                     choice_of(args, machine, width));
                     }));
  check_output(comm, args, result.plan.problem, width);
  result.out = args.out;
  result.machine = known.source;
  result.precision = width == sizeof(double) ? "double" : "single";
  result.predicted_seconds = predicted_seconds(result.plan, machine);
  result.flops = total_flops(result.plan.problem);
  if (args.explain && result.plan.num_blocks() > 1)
    console.say(fmt::format("In {} blocks of at most {} of index {}, each by itself:",
                            result.plan.num_blocks(), result.plan.block_extent, result.plan.block_index));
  if (args.explain) console.say(explain(result.plan.plan, machine));

  if (width == sizeof(double))
    contract_files<double>(comm, args, files, result, console);
  else
    contract_files<float>(comm, args, files, result, console);
  check_memory(comm, args, console);
  console.say(contract_text(result));
  if (!args.out.empty()) console.say(args.out + ": the result");
  console.result(contract_json(comm, result, machine));
}

}  // namespace

void add_contract(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand(
      "contract", "Contraction of two dense tensors: sums of products over shared indices");
  command->add_option("expression", args->expression, "As in 'C[ij] += A[ik] * B[kj]' or ik,kj->ij")
      ->required();
  command->add_option("a", args->a, "The first tensor: an .npy file")->required();
  command->add_option("b", args->b, "The second tensor: an .npy file")->required();
  command->add_option("-o,--out", args->out, "Write the result: an .npy file");
  add_force_option(*command, args->force);
  command->add_option("--grid", args->grid, "Of the processes: 2x3x1, or auto")->capture_default_str();
  command->add_option("--stationary", args->stationary, "Which tensor is not moved")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "a", "b", "c"}));
  command->add_option("--memory", args->memory,
                      "What a process may hold of tensors, as in 800MB; in blocks where it must be");
  command->add_flag("--explain", args->explain,
                    "Print how the algorithm is derived, and what each step costs");
  add_common_options(*command, args->common);
  command->footer("Example: polyad contract 'C[ij] += A[ik] * B[kj]' a.npy b.npy -o c.npy");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
