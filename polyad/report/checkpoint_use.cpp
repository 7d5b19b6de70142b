#include "polyad/report/checkpoint_use.hpp"

#include <nlohmann/json.hpp>

namespace polyad::report {

nlohmann::ordered_json checkpoint_json(const CheckpointUse& use) {
  return {{"directory", use.directory},
          {"resumed_iteration", use.resumed_iteration},
          {"written", use.written},
          {"seconds", use.seconds}};
}

}  // namespace polyad::report
