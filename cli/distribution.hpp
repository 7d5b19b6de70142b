#pragma once

#include <CLI/App.hpp>

#include "polyad/tasks/distribution_texts.hpp"

namespace polyad::cli {

void add_distribution_options(CLI::App& command, DistributionTexts& args);

}  // namespace polyad::cli
