#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "polyad/tasks/file_plan.hpp"
#include "polyad/tasks/load.hpp"
#include "polyad/tasks/save.hpp"
#include "polyad/tasks/task_result.hpp"

namespace polyad {

struct ConvertOptions {
  // How the input is read (default: its format is recognised). Must be empty for a model.
  LoadOptions load = {};
  // How a tensor is written. By default a file that exists is not replaced. Of a model only `existing`
  // applies.
  SaveOptions save = {.existing = Existing::refused};
};

// What was converted.
class Conversion : public TaskResult {
 public:
  Conversion(TaskResult texts, std::vector<Index> dims, std::vector<std::filesystem::path> label_files)
      : TaskResult(std::move(texts)), dims_(std::move(dims)), label_files_(std::move(label_files)) {}

  const std::vector<Index>& dims() const { return dims_; }
  // The label files that were written beside a tensor; those of a model are not converted.
  const std::vector<std::filesystem::path>& label_files() const { return label_files_; }

 private:
  std::vector<Index> dims_;
  std::vector<std::filesystem::path> label_files_;
};

// Converts the files of a tensor, or a CP model, to another format: docs/formats.md lists the formats. All
// values keep their bits. Requires a context of one process. Throws Error{bad_option} for a name or for
// options that do not suit the input, and what load and save throw.
Conversion convert(const Context& context, const TensorFiles& input, const std::filesystem::path& output,
                   const ConvertOptions& options = {});

// The files that convert would read and write. Throws what check_conversion throws.
FilePlan plan_conversion(const TensorFiles& input, const std::filesystem::path& output,
                         const ConvertOptions& options = {});

// What convert would write, by the first bytes of the input and the name of the output. Throws the errors of
// convert that names and options alone lead to.
enum class ConversionOutput { tensor, model_file, model_directory };
ConversionOutput check_conversion(const TensorFiles& input, const std::filesystem::path& output,
                                  const ConvertOptions& options = {});

}  // namespace polyad
