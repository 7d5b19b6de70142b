#pragma once

#include <functional>
#include <string>
#include <vector>

#include "polyad/plan/predicted_time.hpp"
#include "polyad/plan/strategies.hpp"

namespace polyad {

// What the process that needs most is predicted to take of memory, and whether that is allowed.
struct MemoryNeed {
  Index bytes = 0;
  bool fits = true;
};

struct ChosenDistribution {
  Distribution distribution;
  struct Candidate {
    std::string name;
    double seconds;  // predicted, of an iteration; by the exchange of a sample of the rows
    MemoryNeed memory = {};
  };
  std::vector<Candidate> candidates;  // that were weighed, if there was anything to choose
};

// How much memory a process may use.
struct MemoryLimit {
  Index max_bytes = 0;                                                         // 0: no limit
  std::function<MemoryNeed(const PartLoads& loads, Scheme scheme)> need = {};  // unless there is none
};

// The fastest by predicted time, among those that were asked for or made already, and fit. Never by a
// measurement, so the same on every run. Where none is predicted to fit, that which needs least: when
// nonzeros have moved, more is known, and it may fit. Collective.
ChosenDistribution choose_distribution(const Comm& comm, const SparseTensor<double>& share,
                                       const DistributionOptions& options, Index num_components,
                                       const MachineModel& machine, const MemoryLimit& limit = {},
                                       std::vector<Distribution> made_already = {});

}  // namespace polyad
