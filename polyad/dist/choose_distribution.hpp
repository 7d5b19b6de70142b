#pragma once

#include <string>
#include <vector>

#include "polyad/dist/predicted_time.hpp"
#include "polyad/dist/strategies.hpp"

namespace polyad {

struct ChosenDistribution {
  Distribution distribution;
  struct Candidate {
    std::string name;
    double seconds;  // predicted, of an iteration; by the exchange of a sample of the rows
  };
  std::vector<Candidate> candidates;  // that were weighed, if there was anything to choose
};

// The fastest by predicted time, among those that were asked for and those that were made already. Never by a
// measurement, so the same on every run. Collective.
ChosenDistribution choose_distribution(const Comm& comm, const SparseTensor<double>& share,
                                       const DistributionOptions& options, Index num_components,
                                       const MachineModel& machine,
                                       std::vector<Distribution> made_already = {});

}  // namespace polyad
