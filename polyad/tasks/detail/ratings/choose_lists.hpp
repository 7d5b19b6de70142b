#pragma once

#include <optional>
#include <vector>

#include "polyad/algo/cp/cp_state.hpp"
#include "polyad/report/completion_report.hpp"
#include "polyad/tasks/complete.hpp"

namespace polyad::tasks {

// Settings of a model that is trained for lists.
struct ListSettings {
  Shrinkage shrinkage;
  double popularity = 0;
  double neighbours = 0;
};
// Those of `options`, or else the usual ones, where nothing is chosen.
ListSettings usual_list_settings(const CompleteOptions& options);

struct ListChoice {
  ListSettings settings;
  std::vector<report::ListTrial> trials = {};  // all that were compared; empty: the settings are the usual
  std::optional<StopReason> cut_short = {};    // why nothing was chosen after all
};

// Whether choose_lists() compares settings for this number of training ratings.
bool chooses_lists(const CompleteOptions& options, Index num_ratings);

// Chooses regularisation, popularity and the weight of neighbours by the lists of models that learn from nine
// tenths of the training ratings, on the others. Nothing is chosen where the options name one of these, or
// where ratings are too few to tell. `own`: training ratings of this process, users x items. `power`: of
// ratings, as in ListModel. The same on any number of processes, up to rounding. `control`: of the sweeps of
// every trial. Collective.
template <class Real>
ListChoice choose_lists(const Context& context, const SparseTensor<double>& own,
                        const CompleteOptions& options, double power, const CpControl<Real>& control = {});

}  // namespace polyad::tasks
