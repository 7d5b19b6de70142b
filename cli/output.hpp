#pragma once

#include <CLI/App.hpp>

#include "polyad/io/bytes/existing.hpp"

namespace polyad::cli {

// --force: whether outputs that hold data may replace files that exist.
void add_force_option(CLI::App& command, bool& force);
Existing existing(bool force);

}  // namespace polyad::cli
