#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "polyad/comm/process_grid.hpp"

namespace polyad {

// How the nonzeros of a tensor are distributed over processes.
enum class Scheme {
  coarse,  // whole slices of each mode
  medium,  // blocks of a grid of processes
  fine     // single nonzeros
};
std::string to_string(Scheme scheme);

// Which process owns a factor row in fine grain: of those that need it, the one that evens out communication,
// or one at random.
enum class RowRule { greedy, random };

// How the rows of a mode are cut into the contiguous layers of a process grid.
struct LayerPolicy {
  enum class Kind {
    nnz,      // equal numbers of nonzeros, as SPLATT does
    set,      // equal numbers of rows
    ordered,  // from `set`, layer after layer moves its right end towards equal nonzeros
    max_min   // from `set`, the fullest layer gives rows to the emptiest, the second to the second, ...
  };
  Kind kind = Kind::nnz;
  int c = 1;  // of `ordered`: damping; 1 moves the whole way for even slices

  friend bool operator==(const LayerPolicy&, const LayerPolicy&) = default;
};
// "nnz", "set", "ordered-1", "ordered-2", "max-min".
std::string to_string(const LayerPolicy& policy);
// All policies that are compared where none is given.
std::vector<LayerPolicy> all_policies();

// What is asked of a distribution. By default everything is chosen by the predicted time of an iteration.
struct DistributionOptions {
  enum class Partition {
    any,         // the fastest by prediction
    block,       // contiguous
    random,      // by a random permutation
    hypergraph,  // by a partition of the tensor's hypergraph, which is cached (coarse and fine grain)
    file         // read from `partition_file` (coarse and fine grain)
  };
  enum class GridRule {
    fastest,   // of all candidates, by predicted time
    splatt,    // the grid that SPLATT would take
    predicted  // the candidate with the most even layers
  };

  std::optional<Scheme> scheme = {};
  bool allows_coarse = true;  // whether coarse grain is a candidate where no scheme is given
  Partition partition = Partition::any;
  std::filesystem::path partition_file = {};
  std::filesystem::path cache = {};  // folder of cached partitions; empty: the user's cache folder
  std::optional<GridShape> grid = {};
  GridRule grid_rule = GridRule::fastest;
  int num_free_primes = 2;  // how many prime factors of the number of processes are tried in every mode
  std::optional<LayerPolicy> policy = {};
  RowRule row_rule = RowRule::greedy;
  std::uint64_t seed = 1;
  // [mode]: whether every process holds all rows of the factor; nothing: chosen by prediction.
  std::optional<std::vector<bool>> is_replicated = {};
};

}  // namespace polyad
