#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "polyad/base/printable.hpp"
#include "polyad/distributed/tensor_statistics.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::report {

// The keys of `polyad stats --json`; docs/json.md names them all.
nlohmann::ordered_json statistics_json(const TensorStatistics& statistics,
                                       std::span<const ModeLabels> labels);

// The same as text: a few lines and a table of the modes.
std::string statistics_text(const TensorStatistics& statistics, std::span<const ModeLabels> labels);

using polyad::with_commas;
// "1 fault", "416,744 faults"; and "1 fault was", "2 faults were".
std::string counted(Index number, const std::string& noun);
std::string counted_were(Index number, const std::string& noun);
std::string dims_text(std::span<const Index> dims);  // "30x24x659x1086"

}  // namespace polyad::report
