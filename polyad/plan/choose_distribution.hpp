#pragma once

#include <functional>
#include <string>
#include <vector>

#include "polyad/plan/predicted_time.hpp"
#include "polyad/plan/strategies.hpp"

namespace polyad {

// Predicted memory of the process that needs the most, and whether it is within the limit.
struct MemoryNeed {
  Index bytes = 0;  // peak memory
  bool fits = true;
};

struct ChosenDistribution {
  Distribution distribution;
  struct Candidate {
    std::string name;
    double seconds;  // predicted time of an iteration, from a sample of the rows
    MemoryNeed memory = {};
  };
  std::vector<Candidate> candidates;  // all that were compared; empty if there was no choice
};

// Memory limit per process.
struct MemoryLimit {
  Index max_bytes = 0;                                                         // 0: no limit
  std::function<MemoryNeed(const PartLoads& loads, Scheme scheme)> need = {};  // prediction
};

// Parts that are not computed here.
struct GivenParts {
  std::vector<Distribution> distributions = {};  // they compete with the others
  std::vector<RowOwners> rows = {};              // [mode]: the owners that RowRule::file means
};

// Chooses the smallest predicted time among the distributions that the options allow, and
// those given, that fit into memory. If none is predicted to fit, takes the one that needs the least:
// more is known after redistribution. Measures nothing, so that every run chooses the same. Collective.
ChosenDistribution choose_distribution(const Comm& comm, const SparseTensor<double>& share,
                                       const DistributionOptions& options, Index num_components,
                                       const MachineModel& machine, const PassOptions& passes = {},
                                       const MemoryLimit& limit = {}, GivenParts given = {});

}  // namespace polyad
