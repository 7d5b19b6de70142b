#pragma once

#include <algorithm>
#include <vector>

#include "polyad/algo/cp/cp_options.hpp"
#include "polyad/kernels/cp/factor.hpp"

namespace polyad {

// What Start::automatic is in alternating least squares. Values and factors that are, or mostly are, of one
// sign do better with uniform numbers; with nonnegative factors, the absolute values of normal numbers did.
inline bool prefers_uniform_start(Index num_negative, Index num_nonzeros,
                                  const std::vector<bool>& nonnegative) {
  constexpr Index fraction = 10;
  return num_negative * fraction <= num_nonzeros && std::ranges::count(nonnegative, true) == 0;
}

// The initial factors that the options ask for. `automatic_is_uniform`: what Start::automatic is in this
// run, and what random components of other starts are.
inline kernels::RandomStart random_start(const CpOptions& options, bool automatic_is_uniform) {
  const bool is_uniform =
      options.start == Start::uniform || (options.start != Start::normal && automatic_is_uniform);
  return {.seed = options.seed, .is_uniform = is_uniform};
}

}  // namespace polyad
