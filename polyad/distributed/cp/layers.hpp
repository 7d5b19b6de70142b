#pragma once

#include <vector>

#include "polyad/distributed/cp/distribution_options.hpp"
#include "polyad/distributed/cp/slice_profile.hpp"

namespace polyad {

// Boundaries of the layers of a mode: rows [begin[l], begin[l + 1]) are layer l. No
// layer is empty unless there are fewer rows than layers. Collective, as the profile is.
std::vector<Index> cut_into_layers(const SliceProfile& profile, int num_layers, const LayerPolicy& policy);

}  // namespace polyad
