#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "polyad/tasks/save.hpp"

namespace polyad::cli {

// Writes a tensor and names the label files that are written beside it, which are returned.
std::vector<std::filesystem::path> save(const std::filesystem::path& path, const Tensor& x,
                                        const SaveOptions& options, const Console& console);

// --force: whether outputs that hold data may replace files that exist.
void add_force_option(CLI::App& command, bool& force);
Existing existing(bool force);

}  // namespace polyad::cli
