#pragma once

#include <functional>
#include <vector>

#include "polyad/algo/component_recommendation.hpp"
#include "polyad/algo/run_cp.hpp"

namespace polyad {

struct ComponentSweepOptions {
  std::vector<Index> component_counts = {};  // ascending, distinct
  int num_starts = 3;                        // with the seeds als.seed, als.seed + 1, ...
  double held_out = 0.05;                    // fraction of the nonzeros; 0: none
  // But for the number of components. Models are compared, so they iterate longer than one alone would.
  CpRunOptions decompose = {.als = {{.max_iterations = 200, .tolerance = 1e-6}}};
};

struct ComponentSweepResult {
  std::vector<CountEvidence> evidence;  // by component_counts
  ComponentRecommendation recommendation;
  std::vector<Index> dims;
  Index num_nonzeros = 0, num_duplicates = 0;
  Index num_held_out_nonzeros = 0, num_held_out_zeros = 0;
  Timings timings;
};

// Called when a number of components is done.
using ComponentSweepObserver = std::function<void(const CountEvidence&)>;

// How many components a tensor has: decomposes it with every number of components from several starts, and
// weighs how well that fits, predicts, hangs together and repeats. Every start is that of cp_als with its
// seed. On one process.
template <class Real>
ComponentSweepResult sweep_components(const Comm& comm, SparseTensor<double> x,
                                      const ComponentSweepOptions& options, Progress& progress,
                                      const ComponentSweepObserver& observe = {});

// From 1 up to 8, or to what is the most that a tensor of these dimensions can need.
std::vector<Index> usual_component_counts(std::span<const Index> dims);

}  // namespace polyad
