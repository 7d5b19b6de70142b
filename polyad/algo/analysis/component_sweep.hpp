#pragma once

#include <functional>
#include <vector>

#include "polyad/algo/analysis/component_recommendation.hpp"
#include "polyad/algo/cp/run_cp.hpp"

namespace polyad {

struct ComponentSweepOptions {
  std::vector<Index> component_counts = {};  // ascending, distinct
  int num_starts = 3;                        // with the seeds als.seed, als.seed + 1, ...
  double held_out = 0.05;                    // fraction of the nonzeros to hold out; 0: none
  // Options of each decomposition, except the number of components; more iterations than usual.
  CpRunOptions decompose = {.als = {{.max_iterations = 200, .tolerance = 1e-6}}};
};

struct ComponentSweepResult {
  std::vector<CountEvidence> evidence;  // in the order of component_counts
  ComponentRecommendation recommendation;
  std::vector<Index> dims;
  Index num_nonzeros = 0, num_duplicates = 0;
  Index num_held_out_nonzeros = 0, num_held_out_zeros = 0;
  Timings timings;
};

// Called when a number of components has been evaluated.
using ComponentSweepObserver = std::function<void(const CountEvidence&)>;

// Determines the number of components of a tensor: decomposes it with every number of
// components from several starts, and compares fit, prediction of held-out cells, core
// consistency and stability. Start k is that of cp_als with its seed. Every process has the whole tensor; the
// starts are divided among them, and all get the result of one process. Collective.
template <class Real>
ComponentSweepResult sweep_components(const Comm& comm, SparseTensor<double> x,
                                      const ComponentSweepOptions& options, Progress& progress,
                                      const ComponentSweepObserver& observe = {});

// Default numbers: from 1 to 8, or to the largest that a tensor of these dimensions can need.
std::vector<Index> usual_component_counts(std::span<const Index> dims);

}  // namespace polyad
