#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyad/dist/distribution.hpp"
#include "polyad/dist/predicted_time.hpp"

namespace polyad {

// What is asked of a distribution; what is not said is chosen.
struct DistributionOptions {
  enum class Partition { any, block, random };
  enum class GridRule {
    fastest,    // of the candidates of seed 001 and SPLATT's, by predicted time
    splatt,     // SPLATT's
    predicted,  // seed 001's: the candidate with the most even layers
  };

  std::optional<Scheme> scheme;
  Partition partition = Partition::any;
  std::optional<GridShape> grid;
  GridRule grid_rule = GridRule::fastest;
  int num_free_primes = 2;
  std::optional<LayerPolicy> policy;
  RowRule row_rule = RowRule::greedy;
  std::uint64_t seed = 1;
  std::optional<std::vector<bool>> is_replicated;  // [mode]
};

// "medium 2x2x1 nnz", "fine random".
std::string describe(const Distribution& distribution);

struct ChosenDistribution {
  Distribution distribution;
  struct Candidate {
    std::string name;
    double seconds;  // predicted, of an iteration; by the exchange of a sample of the rows
  };
  std::vector<Candidate> candidates;  // that were weighed, if there was anything to choose
};

// The fastest by predicted time, among those that were asked for. Never by a measurement, so the same on
// every run. Collective.
ChosenDistribution choose_distribution(const Comm& comm, const SparseTensor<double>& share,
                                       const DistributionOptions& options, Index num_components,
                                       const MachineModel& machine);

}  // namespace polyad
