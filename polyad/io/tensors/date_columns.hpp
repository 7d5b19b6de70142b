#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// The options with which files that are one table are to be read, where the order of day and month in each
// column of times is no longer unknown: dates such as 31/12/2014 have the day first if a line of the column
// shows it, otherwise the month. A note names a column in which no line shows either, though that makes a
// difference. Looks at the beginning and the end of each file, and at all lines only where these do not tell;
// every process does so by itself. Errors are those of reading.
ReadOptions settle_dates(const std::vector<std::filesystem::path>& files, const ReadOptions& options,
                         std::vector<std::string>& notes);

}  // namespace polyad::io
