#include "polyad/gpu/check_device.hpp"

#include <string>

#include "polyad/base/error.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/gpu/device.hpp"

namespace polyad::gpu {
namespace {

// The largest number of components below num_components that fits; 0 if not even one does.
Index most_components(Index free, Index num_components, Index value_bytes, BytesOnDevice bytes) {
  Index fits = 0, too_many = num_components;
  while (too_many - fits > 1) {
    const Index middle = fits + (too_many - fits) / 2;
    (bytes(middle, value_bytes) <= free ? fits : too_many) = middle;
  }
  return fits;
}

std::string what_would_fit(Index free, Index num_components, Index value_bytes, BytesOnDevice bytes) {
  constexpr auto single = Index(sizeof(float));
  const bool fits_in_single = value_bytes > single && bytes(num_components, single) <= free;
  const auto with_at_most = [](Index most) {
    return "with at most " + std::to_string(most) + (most == 1 ? " component" : " components");
  };
  std::string words = "; it would fit ";
  if (const Index most = most_components(free, num_components, value_bytes, bytes); most > 0)
    return words + (fits_in_single ? "in single precision, or " : "") + with_at_most(most);
  if (fits_in_single) return words + "in single precision";
  if (const Index most = most_components(free, num_components, single, bytes); most > 0)
    return words + "in single precision " + with_at_most(most);
  return "; it would not fit with a single component either: several GPUs, with a process each, or the "
         "processor may have room";
}

}  // namespace

void check_device(int device) {
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
}

void check_device(int device, Index num_components, Index value_bytes, BytesOnDevice bytes) {
  check_device(device);
  const Index needed = bytes(num_components, value_bytes);
  if (const Index free = free_bytes(device); needed > free)
    throw Error(Errc::resource, "the decomposition would need " + with_prefix(double(needed), "B") +
                                    " on the GPU, " + list_devices().gpus[device].name + ", of which " +
                                    with_prefix(double(free), "B") + " are free" +
                                    what_would_fit(free, num_components, value_bytes, bytes));
}

}  // namespace polyad::gpu
