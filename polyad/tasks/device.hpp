#pragma once

#include <optional>
#include <string>

#include "polyad/gpu/gpu_list.hpp"

namespace polyad {

// What computes the iterations of a decomposition, or the epochs of a model of ratings.
struct Device {
  enum class Kind {
    automatic,  // the first GPU, where it can do what is asked for, on one process without a limit of
                // memory, for a tensor that is large enough; else the processor
    cpu,
    gpu
  };
  Kind kind = Kind::automatic;
  std::optional<int> index = {};  // of the GPU, from 0; nothing: on several processes, one after the other
};

// "auto", "cpu", "gpu" or "gpu:1", as the command line calls them.
std::string to_string(const Device& device);
// Throws Error{bad_option} for any other text; `option` is what the interface calls the option.
Device parse_device(const std::string& text, const std::string& option);

// The GPUs of this machine.
GpuList list_gpus();

}  // namespace polyad
