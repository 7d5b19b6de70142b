#pragma once

#include <optional>
#include <string>

#include "polyad/comm/comm.hpp"
#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/decompose.hpp"

namespace polyad::tasks {

// Throws Error{bad_option} for a GPU that is not there, and for one together with what it cannot do.
void check_device(const DecomposeOptions& options);
void check_device(const CompleteOptions& options);

// What this process computes on.
struct ChosenDevice {
  std::optional<int> gpu = {};  // nothing: the processor
  std::string text = "cpu";     // or the number and the name of the GPU

  Device device() const { return gpu ? Device{Device::Kind::gpu, gpu} : Device{Device::Kind::cpu}; }
};
// Throws Error{bad_option} for a tensor of more modes than the GPU that was asked for can do. The options
// were checked. Collective.
ChosenDevice choose_device(const Comm& comm, const SparseTensor<double>& share,
                           const DecomposeOptions& options);
// `share`: ratings, some of which may be held out.
ChosenDevice choose_device(const Comm& comm, const SparseTensor<double>& share,
                           const CompleteOptions& options);

}  // namespace polyad::tasks
