#pragma once

#include <filesystem>
#include <string>

namespace polyad {

// Checkpoints of a run: its state, as it is between two iterations, from which the same call goes on as if it
// had not been interrupted.
struct CheckpointOptions {
  // Where they are; on several machines, one that all of them see. Made if there is none. A run that finds
  // checkpoints there goes on from the newest, which must be of the same tensor and the same options.
  std::filesystem::path directory;
  double every_seconds = 600;  // time between two checkpoints; 0: not by time
  int every_iterations = 0;    // number of iterations between two checkpoints; 0: not by number
  int keep = 2;                // number of checkpoints that are kept, the newest
};

// Throws Error{bad_option} for options that make no sense.
void validate(const CheckpointOptions& options);

// `every` is a time, as in "10min", or a number of iterations, as in "20it". Throws Error{bad_option}.
CheckpointOptions parse_checkpoint(const std::string& directory, const std::string& every, int keep);

}  // namespace polyad
