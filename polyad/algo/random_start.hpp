#pragma once

#include "polyad/algo/cp_options.hpp"
#include "polyad/kernels/cp/factor.hpp"

namespace polyad {

// The initial factors that the options ask for. `automatic_is_uniform`: what Start::automatic is in this run.
inline kernels::RandomStart random_start(const CpOptions& options, bool automatic_is_uniform) {
  const bool is_uniform =
      options.start == Start::uniform || (options.start == Start::automatic && automatic_is_uniform);
  return {.seed = options.seed, .is_uniform = is_uniform};
}

}  // namespace polyad
