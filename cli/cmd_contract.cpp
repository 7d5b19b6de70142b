#include <memory>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/tasks/contract.hpp"

namespace polyad::cli {
namespace {

struct ContractArgs {
  CommonOptions common;
  std::string expression, a, b, out, grid = "auto", stationary = "auto", memory;
  bool explain = false, force = false;
};

FilePlan file_plan(const ContractArgs& args) {
  FilePlan plan;
  plan.reads("the first input", args.a).reads("the second input", args.b).reads_machine_constants();
  return plan.writes("--out", args.out, existing(args.force));
}

ContractOptions options_of(const ContractArgs& args, const Console& console) {
  ContractOptions options;
  if (args.grid != "auto") options.grid = parse_grid_shape(args.grid).dims();
  if (args.stationary == "a") options.stationary = StationaryTensor::a;
  if (args.stationary == "b") options.stationary = StationaryTensor::b;
  if (args.stationary == "c") options.stationary = StationaryTensor::c;
  if (!args.memory.empty()) options.max_memory_bytes = parse_bytes(args.memory, "--memory");
  options.out = args.out;
  options.existing = existing(args.force);
  if (args.explain) options.on_plan = [&console](const std::string& derivation) { console.say(derivation); };
  return options;
}

void run(const Comm& comm, const ContractArgs& args) {
  const Console console(comm, args.common, collectively(comm, [&] { return file_plan(args); }));
  const auto report =
      contract_files(console.context(), args.expression, args.a, args.b, options_of(args, console));
  console.say(report.summary());
  if (!args.out.empty()) console.say("wrote result to " + args.out);
  console.result(report.json());
}

}  // namespace

void add_contract(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<ContractArgs>();
  auto* command = app.add_subcommand(
      "contract", "Contract two dense tensors: sum products over the indices that the result does not have");
  command
      ->add_option("expression", args->expression,
                   "The indices of the tensors, as in 'C[ij] += A[ik] * B[kj]' or ik,kj->ij")
      ->required();
  command->add_option("a", args->a, "First tensor (.npy)")->required();
  command->add_option("b", args->b, "Second tensor (.npy)")->required();
  command->add_option("-o,--out", args->out, "Write the result to a file (.npy)");
  add_force_option(*command, args->force);
  command
      ->add_option("--grid", args->grid,
                   "Grid of processes, as in 2x3x1; auto: the one that is predicted to be the fastest")
      ->capture_default_str();
  command
      ->add_option("--stationary", args->stationary,
                   "Tensor that is not moved between processes: a, b or c (the result); auto: the choice "
                   "that is predicted to be the fastest")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "a", "b", "c"}));
  command->add_option("--memory", args->memory,
                      "Memory that a process may use for tensors and messages, as in 800MB; the contraction "
                      "is done in blocks where that is needed");
  command->add_flag("--explain", args->explain,
                    "Print how the algorithm is derived, and what each step costs");
  add_common_options(*command, args->common);
  command->footer("Example: polyad contract 'C[ij] += A[ik] * B[kj]' a.npy b.npy -o c.npy");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
