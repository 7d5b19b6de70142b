#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "polyad/base/error.hpp"
#include "polyad/tensor/generate/generate.hpp"

namespace polyad {
namespace {

// noun x verb x noun
SkewedOptions nell() {
  return {.dims = {12092, 9184, 28818},
          .num_nonzeros = 5'000'000,
          .exponents = {0.6, 0.6, 0.7},
          .fiber_mode = 2,
          .fiber_mean = 4,
          .num_blocks = 24,
          .block_dims = {110, 70, 50},
          .block_share = 0.35};
}

// user x film x day: on a visit, a user rates some films
SkewedOptions netflix() {
  return {.dims = {480189, 17770, 2182},
          .num_nonzeros = 10'000'000,
          .exponents = {0.65, 0.95, 0.5},
          .fiber_mode = 1,
          .fiber_mean = 6,
          .num_blocks = 24,
          .block_dims = {900, 60, 12},
          .block_share = 0.30};
}

// user x page x tag x day: a user gives a page some tags
SkewedOptions delicious() {
  return {.dims = {532924, 17262471, 2480308, 1443},
          .num_nonzeros = 8'000'000,
          .exponents = {0.9, 0.75, 1.0, 0.4},
          .fiber_mode = 2,
          .fiber_mean = 3,
          .num_blocks = 24,
          .block_dims = {60, 40, 20, 8},
          .block_share = 0.25};
}

// entity x entity x relation
SkewedOptions fb() {
  return {.dims = {2'300'000, 2'300'000, 166},
          .num_nonzeros = 8'000'000,
          .index_order = IndexOrder::ordered,
          .exponents = {0.8, 0.8, 0.9},
          .corner_dims = {600, 600, 24},
          .corner_share = 0.30,
          .diagonal_share = 0.5,
          .diagonal_distance = 20};
}

struct Preset {
  std::string name;
  SkewedOptions options;
};

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"nell", nell()}, {"netflix", netflix()}, {"delicious", delicious()}, {"fb", fb()}};
  return all;
}

Index scaled(Index count, double scale) {
  return std::max<Index>(1, std::llround(double(count) * scale));
}

}  // namespace

const std::vector<std::string>& like_names() {
  static const auto names = [] {
    std::vector<std::string> result;
    for (const Preset& preset : presets()) result.push_back(preset.name);
    return result;
  }();
  return names;
}

SkewedOptions options_like(const std::string& name, double scale) {
  const auto preset =
      std::find_if(presets().begin(), presets().end(), [&](const Preset& p) { return p.name == name; });
  if (preset == presets().end())
    throw Error(
        Errc::bad_option,
        option_name("#name") + fmt::format("there is no tensor '{}' to generate the like of; there are {}",
                                           name, fmt::join(like_names(), ", ")));
  if (!(scale > 0 && scale <= 1e6))
    throw Error(
        Errc::bad_option,
        option_name("#scale") + fmt::format("the scale must be positive and at most 1e6, found {}", scale));
  SkewedOptions options = preset->options;
  for (Index& dim : options.dims) dim = scaled(dim, scale);
  options.num_nonzeros = scaled(options.num_nonzeros, scale);
  if (options.num_blocks > 0) options.num_blocks = scaled(options.num_blocks, scale);
  for (Index& dim : options.corner_dims) dim = scaled(dim, std::pow(scale, 1 / double(options.dims.size())));
  return options;
}

}  // namespace polyad
