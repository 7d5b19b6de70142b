#pragma once

#include <string>
#include <vector>

#include "polyad/dist/slice_profile.hpp"

namespace polyad {

// How the rows of a mode are cut into contiguous layers (ALGORITHMS, section 3; seed 001, Algorithm 3).
struct LayerPolicy {
  enum class Kind {
    nnz,      // equal nonzeros: SPLATT's
    set,      // equal rows
    ordered,  // from `set`, layer after layer moves its right end towards equal nonzeros
    max_min   // from `set`, the fullest layer gives rows to the emptiest, the second to the second, ...
  };
  Kind kind = Kind::nnz;
  int c = 1;  // of `ordered`: how gently; 1 goes the whole way for even slices

  friend bool operator==(const LayerPolicy&, const LayerPolicy&) = default;
};

// "nnz", "set", "ordered-1", "ordered-2", "max-min".
std::string to_string(const LayerPolicy& policy);
// All that are tried when nobody says.
std::vector<LayerPolicy> all_policies();

// The first row of every layer, and behind the last: rows [begin[l], begin[l + 1]) are layer l. No layer is
// empty unless there are fewer rows than layers. Collective, as the profile is.
std::vector<Index> cut_into_layers(const SliceProfile& profile, int num_layers, const LayerPolicy& policy);

}  // namespace polyad
