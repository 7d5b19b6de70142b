#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "polyad/base/error.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  InputOptions input;
  std::string output, output_format;
  bool compress = false, force = false;
};

void convert_tensor(const Comm& comm, const Args& args) {
  SaveOptions write{{}, args.compress, existing(args.force)};
  if (!args.output_format.empty()) write.format = io::format_by_name(args.output_format);
  const auto format = io::output_format(args.output, write);  // a wrong name is told before the reading
  auto plan = plan_input(args.input);
  plan.writes_labelled("the output", args.output, existing(args.force));
  Console console(comm, args.common, plan);
  const auto loaded = load(args.input, console);
  const auto& x = loaded.tensor;
  const auto label_files = save(args.output, loaded, write, console);
  console.say(fmt::format("{}: {} {} with {} nonzeros", args.output, dims_text(x.extents()),
                          io::traits(format).name, with_commas(x.num_nonzeros())));
  nlohmann::ordered_json json{{"format", io::traits(format).name},
                              {"dims", x.extents()},
                              {"nnz", x.num_nonzeros()},
                              {"labels", nlohmann::ordered_json::array()}};
  for (const auto& path : label_files) json["labels"].push_back(path.string());
  console.result(json);
}

// What is said about a tensor's nonzeros has no meaning for factors.
bool has_tensor_options(const InputOptions& input) {
  return input.index_base >= 0 || !input.dims.empty() || !input.columns.empty() || !input.value.empty() ||
         !input.labels.empty();
}

// A directory is replaced as a model; --force is needed for that as for a file.
FilePlan plan_kruskal(const Args& args, io::KruskalFormat format) {
  FilePlan plan;
  plan.reads("the input", args.input.path);
  const std::filesystem::path output(args.output);
  if (format != io::KruskalFormat::splatt) return plan.writes("the output", output, existing(args.force));
  return plan.writes_model("the output", output, [=, force = args.force] {
    io::check_kruskal_place(output, format, existing(force));
  });
}

void convert_kruskal(const Comm& comm, const Args& args) {
  const auto format = io::kruskal_format_by_extension(args.output);
  if (!format || !args.output_format.empty() || args.compress)
    throw Error(Errc::bad_option,
                "a Kruskal tensor is written as NAME.ktensor, NAME.npz or a folder of SPLATT's .mat files",
                {args.output, 0});
  if (has_tensor_options(args.input))
    throw Error(Errc::bad_option, "holds a Kruskal tensor: only its path and the output are to be given",
                {args.input.path, 0});
  const Console console(comm, args.common, plan_kruskal(args, *format));
  const auto model = io::read_kruskal(args.input.path);
  io::write_kruskal(args.output, model, *format, {}, existing(args.force));
  std::vector<Index> dims;
  dims.reserve(model.factors.size());
  for (const auto& factor : model.factors) dims.push_back(factor.num_rows());
  console.say(fmt::format("{}: {} Kruskal tensor with {} components", args.output, dims_text(dims),
                          model.num_components()));
  console.result({{"format", "kruskal"}, {"dims", dims}, {"components", model.num_components()}});
}

void run(const Comm& comm, const Args& args) {
  require_one_process(comm, "convert");
  if (args.input.format.empty() && io::looks_like_kruskal(args.input.path))
    convert_kruskal(comm, args);
  else
    convert_tensor(comm, args);
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
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand("convert", "Any format to any other, losing nothing");
  add_input_options(*command, args->input);
  command
      ->add_option("output", args->output, "The new file; its extension tells the format (.gz: compressed)")
      ->required();
  command->add_option("--output-format", args->output_format, "Write this format, whatever the extension");
  command->add_flag("--compress", args->compress, "Compress a .ptb");
  add_force_option(*command, args->force);
  add_common_options(*command, args->common);
  command->footer("Example: polyad convert data/debian.tns.gz debian.ptb\n\n" + format_list());
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
