#include "polyad/tasks/device.hpp"

#include <fmt/format.h>

#include "polyad/base/error.hpp"
#include "polyad/gpu/device.hpp"
#include "polyad/tasks/option_values.hpp"

namespace polyad {

std::string to_string(const Device& device) {
  if (device.kind != Device::Kind::gpu) return device.kind == Device::Kind::cpu ? "cpu" : "auto";
  return device.index ? fmt::format("gpu:{}", *device.index) : "gpu";
}

Device parse_device(const std::string& text, const std::string& option) {
  if (text == "auto") return {};
  if (text == "cpu") return {Device::Kind::cpu};
  if (text == "gpu") return {Device::Kind::gpu};
  constexpr Index max_index = 1000;
  if (text.starts_with("gpu:"))
    if (const auto index = parse_whole_number(text.substr(4)); index && *index >= 0 && *index < max_index)
      return {Device::Kind::gpu, int(*index)};
  throw Error(Errc::bad_option,
              fmt::format("{} {}: expected auto, cpu, gpu or a GPU by its number, as in gpu:0", option,
                          text.empty() ? "''" : text));
}

GpuList list_gpus() {
  return gpu::list_devices();
}

}  // namespace polyad
