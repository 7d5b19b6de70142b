#pragma once

#include <filesystem>
#include <vector>

#include "cli/console.hpp"
#include "polyad/io/read_tensor.hpp"
#include "polyad/io/write_tensor.hpp"

namespace polyad::cli {

// Writes a tensor with its labels: inside the file where its format holds them, else beside it, and
// nothing at all when other labels lie there. Returns the label files written.
std::vector<std::filesystem::path> save(const std::filesystem::path& path, const io::LoadedTensor& loaded,
                                        const io::WriteOptions& options, Console& console);

}  // namespace polyad::cli
