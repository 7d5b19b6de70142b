#include "polyad/gpu/check_device.hpp"

#include <string>

#include "polyad/base/error.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/gpu/device.hpp"

namespace polyad::gpu {

void check_device(int device, Index bytes) {
  const auto list = list_devices();
  if (list.gpus.empty()) throw Error(Errc::bad_option, list.why_none);
  if (device < 0 || device >= std::ssize(list.gpus))
    throw Error(Errc::bad_option, "there is no GPU " + std::to_string(device) +
                                      ": they are numbered from 0 to " +
                                      std::to_string(list.gpus.size() - 1));
  const auto& name = list.gpus[device].name;
  if (!has_kernels_for(device))
    throw Error(Errc::bad_option, "this program was built for other GPUs than " + name +
                                      " (CMAKE_CUDA_ARCHITECTURES chooses them)");
  if (const Index free = free_bytes(device); bytes > free)
    throw Error(Errc::resource, "the decomposition would need " + with_prefix(double(bytes), "B") +
                                    " on the GPU, " + name + ", of which " + with_prefix(double(free), "B") +
                                    " are free");
}

}  // namespace polyad::gpu
