#pragma once

#include "polyad/io/checkpoints/checkpoint_manifest.hpp"
#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tensor/ratings/split_ratings.hpp"

namespace polyad::tasks {

// What the state of a decomposition depends on: the tensor, and the options that change its course.
// Collective.
io::CheckpointManifest checkpoint_identity(const Context& context, const Tensor& x,
                                           const DecomposeOptions& options);

// The same of a training. `own`: ratings of this process, users x items. Collective.
io::CheckpointManifest checkpoint_identity(const Context& context, const SplitRatings& own,
                                           const CompleteOptions& options);

}  // namespace polyad::tasks
