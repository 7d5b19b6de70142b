#include <memory>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct CompareArgs {
  CommonOptions common;
  std::string first, second;
};

void run(const Comm& comm, const CompareArgs& args) {
  const Console console(comm, args.common, collectively(comm, [&] {
                          return FilePlan()
                              .reads_labelled("the first model", args.first)
                              .reads_labelled("the second model", args.second);
                        }));
  const auto& context = console.context();
  const auto first = load_model(context, args.first);
  const auto second = load_model(context, args.second);
  const auto result = compare(context, first, second);
  console.say(result.summary());
  console.result(result.json());
}

}  // namespace

void add_compare(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<CompareArgs>();
  auto* command =
      app.add_subcommand("compare", "Compare two CP models of the same tensor: factor match score");
  command->add_option("first", args->first, "A model: a directory, .ktensor or .npz that cpd --out wrote")
      ->required();
  command->add_option("second", args->second, "Another model of the same tensor")->required();
  add_common_options(*command, args->common);
  command->footer("Example: polyad compare model-1 model-2");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
