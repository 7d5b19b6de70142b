#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct GetArgs {
  CommonOptions common;
  std::string name, folder = GetDataOptions().folder.string();
  bool force = false;
};

void run(const Comm& comm, const GetArgs& args) {
  require_one_process(comm, "get");
  const GetDataOptions options{args.folder, existing(args.force)};
  const Console console(comm, args.common, args.name.empty() ? FilePlan() : plan_data(args.name, options));
  const auto result = args.name.empty() ? list_data(console.context())
                                        : TaskResult(get_data(console.context(), args.name, options));
  console.say(result.summary());
  console.result(result.json());
}

}  // namespace

void add_get(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<GetArgs>();
  auto* command = app.add_subcommand("get", "List public data sets, or download one of them by its name");
  command->add_option("name", args->name, "The data set to download (default: list all)")
      ->type_name(fmt::format("NAME:{{{}}}", fmt::join(data_set_names(), ",")));  // for completion
  command->add_option("--out", args->folder, "The folder to download to, which must exist")
      ->capture_default_str();
  command->add_flag("--force", args->force,
                    "Download and unpack files again that are there; without it they stay");
  add_common_options(*command, args->common);
  command->footer("Example: polyad get nations");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
