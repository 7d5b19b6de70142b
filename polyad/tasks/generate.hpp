#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "polyad/tasks/context.hpp"
#include "polyad/tasks/cp_model.hpp"
#include "polyad/tasks/task_result.hpp"
#include "polyad/tasks/tensor.hpp"
#include "polyad/tensor/generate/generate.hpp"

namespace polyad {

struct PlantedTensor {
  Tensor tensor;
  CpModel truth;  // the components that the tensor is made of
};

struct GeneratedRatings {
  Tensor train, test;      // users x items; each rating is in one of them
  double noise_floor = 0;  // root mean square error, on all ratings, of the model that made them
};

// Synthetic tensors. Each is a function of the options alone, the same for any number of threads and
// processes. Process 0 draws all nonzeros, and the others hold none. Throws Error{bad_option} for options
// that make no sense, or that ask for more nonzeros than there can be. Collective.
Tensor generate(const Context& context, const SkewedOptions& options);
PlantedTensor generate(const Context& context, const PlantedOptions& options);
GeneratedRatings generate(const Context& context, const RatingsOptions& options);

using GenerateOptions = std::variant<SkewedOptions, PlantedOptions, RatingsOptions>;

// The files that were written.
class GeneratedFiles : public TaskResult {
 public:
  GeneratedFiles(TaskResult texts, std::vector<std::filesystem::path> files)
      : TaskResult(std::move(texts)), files_(std::move(files)) {}

  const std::vector<std::filesystem::path>& files() const { return files_; }

 private:
  std::vector<std::filesystem::path> files_;
};

// Writes a synthetic tensor to a file, whose extension selects the format, and a second file beside it where
// there is one: see generated_beside. `kind` is the name of the kind of tensor in the results. Requires a
// context of one process. Throws Error{resource} before drawing when the tensor does not fit on the disk, and
// Error{bad_option} where label files of another tensor lie beside the file.
GeneratedFiles generate_file(const Context& context, const GenerateOptions& options,
                             const std::filesystem::path& output, const std::string& kind);

// The second file that generate_file writes: x-truth.ktensor with the components of a planted tensor x.tns,
// x-test.tns with the test ratings. Empty where there is none.
std::filesystem::path generated_beside(const GenerateOptions& options, const std::filesystem::path& output);

}  // namespace polyad
