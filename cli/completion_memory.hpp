#pragma once

#include "cli/completion_args.hpp"

namespace polyad::cli {

// What one process does with the whole model, once it is trained.
struct AfterTraining {
  bool keeps = false, ranks = false, shows = false;  // --out, --ranking, --report

  bool gathers() const { return keeps || ranks || shows; }
};
AfterTraining what_follows(const CompletionArgs& args, Index num_test);

// Throws Error{resource} when a process is predicted to need more than --memory: for training, or for what
// follows. Collective.
template <class Real>
void check_memory(const Comm& comm, const CompletionArgs& args, const DealtRatings& own,
                  const RatingModel<Real>* earlier);

}  // namespace polyad::cli
