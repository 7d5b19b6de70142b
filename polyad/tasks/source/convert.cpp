#include "polyad/tasks/convert.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/standard_input.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/loaded_model.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

namespace fs = std::filesystem;

// Options about the nonzeros of a tensor do not apply to factors.
bool has_tensor_options(const LoadOptions& load) {
  const auto& labels = load.labels;
  return load.index_base || !load.dims.empty() || !load.columns.empty() || !load.value.empty() ||
         load.table != io::TableForm{} || load.duplicates || load.transform != Transform::none ||
         !load.min_count.empty() || !labels.files.empty() || !labels.folder.empty() || labels.none;
}

io::KruskalFormat checked_model_format(const fs::path& input, const fs::path& output,
                                       const ConvertOptions& options) {
  const auto format = io::kruskal_format_by_extension(output);
  if (!format || options.save.format || options.save.compress)
    throw Error(Errc::bad_option,
                "a Kruskal tensor is written as NAME.ktensor, NAME.npz or a folder of SPLATT's .mat files",
                {output.string(), 0});
  if (has_tensor_options(options.load))
    throw Error(Errc::bad_option, "holds a Kruskal tensor: only its path and the output are to be given",
                {input.string(), 0});
  return *format;
}

Conversion convert_tensor(const Context& context, const TensorFiles& input, const fs::path& output,
                          const ConvertOptions& options) {
  const std::string format(io::traits(io::output_format(output, options.save)).name);
  const auto x = load(context, input, options.load);
  auto label_files = save(context, x, output, options.save);
  const auto& dims = x.tensor.extents();
  std::string text;
  nlohmann::ordered_json json{{"format", format},
                              {"dims", dims},
                              {"nnz", x.tensor.num_nonzeros()},
                              {"labels", nlohmann::ordered_json::array()}};
  for (const auto& path : label_files) {
    text += "wrote labels to " + path.string() + "\n";
    json["labels"].push_back(path.string());
  }
  text += fmt::format("{}: {} {} with {}", output.string(), report::dims_text(dims), format,
                      report::counted(x.tensor.num_nonzeros(), "nonzero"));
  return {{std::move(text), tasks::json_text(json)}, dims, std::move(label_files)};
}

Conversion convert_model(const fs::path& input, const fs::path& output, const ConvertOptions& options) {
  const auto format = checked_model_format(input, output, options);
  const auto model = io::read_kruskal(input);
  io::write_kruskal(output, model, format, {}, options.save.existing);
  auto dims = tasks::dims_of(model);
  const nlohmann::ordered_json json{
      {"format", "kruskal"}, {"dims", dims}, {"components", model.num_components()}};
  auto text = fmt::format("{}: {} Kruskal tensor with {}", output.string(), report::dims_text(dims),
                          report::counted(model.num_components(), "component"));
  return {{std::move(text), tasks::json_text(json)}, std::move(dims), {}};
}

bool is_model(const TensorFiles& input, const ConvertOptions& options) {
  if (options.load.format || input.paths.size() != 1 || io::is_standard_input(input.paths[0])) return false;
  return io::looks_like_kruskal(input.paths[0]);
}

}  // namespace

ConversionOutput check_conversion(const TensorFiles& input, const fs::path& output,
                                  const ConvertOptions& options) {
  if (!is_model(input, options)) {
    io::output_format(output, options.save);
    return ConversionOutput::tensor;
  }
  return checked_model_format(input.paths[0], output, options) == io::KruskalFormat::splatt
             ? ConversionOutput::model_directory
             : ConversionOutput::model_file;
}

FilePlan plan_conversion(const TensorFiles& input, const fs::path& output, const ConvertOptions& options) {
  const auto existing = options.save.existing;
  const auto kind = check_conversion(input, output, options);
  FilePlan plan;
  if (kind == ConversionOutput::tensor)
    return plan.reads_labels(option_name("labels"), options.load.labels)
        .reads_tensor("the input", input)
        .writes_labelled("the output", output, existing);
  plan.reads("the input", input.paths[0]);
  if (kind == ConversionOutput::model_file) return plan.writes("the output", output, existing);
  return plan.writes_model("the output", output, [output, existing] { check_model_place(output, existing); });
}

Conversion convert(const Context& context, const TensorFiles& input, const fs::path& output,
                   const ConvertOptions& options) {
  const tasks::TaskScope scope(context);
  tasks::require_one_process(context, "convert");
  if (is_model(input, options)) return convert_model(input.paths[0], output, options);
  return convert_tensor(context, input, output, options);
}

}  // namespace polyad
