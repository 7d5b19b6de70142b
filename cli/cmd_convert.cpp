#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct ConvertArgs {
  CommonOptions common;
  InputOptions input;
  std::string output, output_format;
  bool compress = false, force = false;
};

ConvertOptions convert_options(const ConvertArgs& args) {
  ConvertOptions options{load_options(args.input), {{}, args.compress, existing(args.force)}};
  if (!args.output_format.empty()) options.save.format = io::format_by_name(args.output_format);
  return options;
}

void run(const Comm& comm, const ConvertArgs& args) {
  require_one_process(comm, "convert");
  const auto options = convert_options(args);
  const Console console(comm, args.common, plan_conversion(tensor_files(args.input), args.output, options));
  const auto result = convert(console.context(), tensor_files(args.input), args.output, options);
  console.say(result.summary());
  console.result(result.json());
}

std::string format_list() {
  std::string text = "Formats:\n";
  for (const auto& format : io::all_formats())
    text += fmt::format("  {:<17} {:<10} {}{}\n", format.name, format.extension, format.meaning,
                        format.writable ? "" : " (read only)");
  return text;
}

}  // namespace

void add_convert(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<ConvertArgs>();
  auto* command = app.add_subcommand("convert", "Convert a tensor or a model to another file format");
  add_input_options(*command, args->input);
  command->get_option("input")
      ->option_text("INPUT... OUTPUT")
      ->description(
          "Tensor files or a model, and then the file to write, whose extension selects the format; .gz "
          "compresses text");
  command->add_option("--output-format", args->output_format,
                      "Format of the output (default: by its extension)");
  command->add_flag("--compress", args->compress, "Compress the blocks of a .ptb file");
  add_force_option(*command, args->force);
  add_common_options(*command, args->common);
  command->footer("Example: polyad convert data/debian.tns.gz debian.ptb\n\n" + format_list());
  command->callback([args, comm] {
    if (args->input.paths.size() < 2) throw CLI::RequiredError("output");
    args->output = args->input.paths.back();
    args->input.paths.pop_back();
    run(comm, *args);
  });
}

}  // namespace polyad::cli
