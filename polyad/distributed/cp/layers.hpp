#pragma once

#include <vector>

#include "polyad/distributed/cp/distribution_options.hpp"
#include "polyad/distributed/cp/slice_profile.hpp"

namespace polyad {

// The layers of a mode, in pieces: rows [begin[i], begin[i + 1]) are in layer[i].
struct LayerCuts {
  std::vector<Index> begin;
  std::vector<int> layer;  // 0, 1, ... if every layer is one piece

  friend bool operator==(const LayerCuts&, const LayerCuts&) = default;
};

// No layer is empty unless there are fewer rows than layers. Collective, as the profile is.
LayerCuts cut_into_layers(const SliceProfile& profile, int num_layers, const LayerPolicy& policy);

}  // namespace polyad
