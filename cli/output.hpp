#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/file_plan.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/io/tensors/write_tensor.hpp"

namespace polyad::cli {

// Writes a tensor with its labels: inside the file where its format holds them, else beside it, and
// nothing at all when other labels lie there. Returns the label files written.
std::vector<std::filesystem::path> save(const std::filesystem::path& path, const io::LoadedTensor& loaded,
                                        const io::WriteOptions& options, Console& console);

// --force: files that exist may be replaced by outputs that take the place of data.
void add_force_option(CLI::App& command, bool& force);
io::Existing existing(bool force);

}  // namespace polyad::cli
