#pragma once

#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

struct GpuInfo {
  std::string name;
  Index memory_bytes = 0;
};

// The GPUs of a machine, [index]; or why this program can use none, as a sentence without a full stop.
struct GpuList {
  std::vector<GpuInfo> gpus;
  std::string why_none;
};

}  // namespace polyad
