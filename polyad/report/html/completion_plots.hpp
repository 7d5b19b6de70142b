#pragma once

#include <span>
#include <string>

#include "polyad/report/completion_report.hpp"

namespace polyad::report {

// Drawings for the page of a completion, as inline SVG.

// The RMSE over the epochs, as ratings were met in training and on those held out. The epoch that was kept
// is marked where some were held out, and so are epochs that were undone. Empty when none was sound.
std::string error_plot(std::span<const EpochRecord> epochs, int best_epoch);

// Words per epoch with 1, 2, ... sub-epochs; the number that was chosen is marked.
std::string sync_plot(std::span<const SyncWords> words, int chosen);

// How many items, or users, have ratings on 0, 1, 2, ... processes.
std::string connectivity_plot(std::span<const Index> rows_by_connectivity, RatingSide side);

}  // namespace polyad::report
