#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace polyad::report {

// The checkpoints of a run.
struct CheckpointUse {
  std::string directory;
  int resumed_iteration = 0;  // or epoch, after which the run went on; 0: from the start
  int written = 0;            // checkpoints of this run
  double seconds = 0;         // for writing them
};

nlohmann::ordered_json checkpoint_json(const CheckpointUse& use);

}  // namespace polyad::report
