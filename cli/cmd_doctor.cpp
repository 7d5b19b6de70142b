#include <memory>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct DoctorArgs {
  CommonOptions common;
  DoctorOptions doctor;
};

void run(const Comm& comm, const DoctorArgs& args) {
  FilePlan plan;
  if (args.doctor.calibrate) plan.reads("the machine file", machine_file());  // created with its folder
  const Console console(comm, args.common, plan);
  const auto findings = doctor(console.context(), args.doctor);
  console.say(findings.summary());
  console.result(findings.json());
  if (!findings.works()) throw Error(Errc::internal, "this installation does not work; see above");
}

}  // namespace

void add_doctor(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<DoctorArgs>();
  auto* command =
      app.add_subcommand("doctor", "Show what is installed and whether threads and MPI messages work");
  command->add_flag(
      "--calibrate", args->doctor.calibrate,
      "Measure how fast this machine computes and communicates, for predictions; best under mpirun "
      "with all processes of a run");
  add_common_options(*command, args->common);
  command->footer("Example: polyad doctor\n         mpirun -n 16 polyad doctor --calibrate");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
