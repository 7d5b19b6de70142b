#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/output.hpp"
#include "polyad/tasks/load_texts.hpp"

namespace polyad::cli {

// The options of every command that reads a tensor.
struct InputOptions : LoadTexts {
  std::vector<std::string> paths;  // see TensorFiles
};
void add_input_options(CLI::App& command, InputOptions& options);
// Those of a file of coordinates of a model, which states the dims.
void add_coordinate_options(CLI::App& command, InputOptions& options);

TensorFiles tensor_files(const InputOptions& options);

// Throws Error{bad_option} where the modes of --nonneg were given as a file, as in "--nonneg 1,3".
void check_nonneg(const InputOptions& options, const std::string& nonneg);

// Reads the tensor: see polyad::load. Collective.
io::LoadedTensor load(const InputOptions& options, Console& console);

// Plans to read the files that --labels names; and those with the tensor and the label files beside it.
void plan_labels(FilePlan& plan, const InputOptions& options);
FilePlan plan_input(const InputOptions& options);
// Plans to read the partitions that are cached, so that no output takes the place of one.
void plan_cache(FilePlan& plan, const std::string& cache);

// For commands that run on one process: throws Error{bad_option} when more were started.
void require_one_process(const Comm& comm, const std::string& command);

}  // namespace polyad::cli
