#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "polyad/comm/process_grid.hpp"

namespace polyad {

// How the nonzeros of a tensor are distributed over processes (docs/distributions.md).
enum class Scheme {
  coarse,  // whole slices of each mode
  medium,  // blocks of a process grid
  fine     // individual nonzeros
};
std::string to_string(Scheme scheme);

// Which process owns a factor row, in medium and fine grain.
enum class RowRule {
  even,      // the rows of a layer, in order, as many to each of its processes; in medium grain only
  greedy,    // the process that balances what is received for owned rows, among those that need the row
  random,    // any process; in fine grain only
  balanced,  // among those that need the row: balances all that is sent, with few pairs of processes
  file,      // as listed in a file
};
std::string to_string(RowRule rule);

// How the rows of a mode are divided into the layers of a process grid, which are contiguous but for one
// kind.
struct LayerPolicy {
  enum class Kind {
    nnz,         // equal numbers of nonzeros, as in SPLATT
    set,         // equal numbers of rows
    ordered,     // from `set`, layer by layer, the right boundary moves towards equal nonzeros
    max_min,     // from `set`, the fullest layer gives rows to the emptiest, the second to the second, ...
    weighted,    // equal sums of nonzeros and of `c` for each row
    interleaved  // not contiguous: up to `c` pieces of equal nonzeros each, so that rows are even as well
  };
  Kind kind = Kind::nnz;
  // Damping of `ordered`: 1 moves a boundary the whole way, 2 half the way. With `weighted`, the number of
  // nonzeros that a row counts as in addition to its own. With `interleaved`, the number of pieces of a
  // layer.
  int c = 1;

  friend bool operator==(const LayerPolicy&, const LayerPolicy&) = default;
};
// Name of a policy: "nnz", "set", "ordered-1", "ordered-2", "max-min", "weighted-4", "interleaved-4".
std::string to_string(const LayerPolicy& policy);
// All policies that are compared if none is given.
std::vector<LayerPolicy> all_policies();

// How partial sums of rows reach the owners of the rows, and factor rows those who need them.
struct Exchange {
  enum class Kind {
    any,     // what is predicted to be faster
    direct,  // one message from each process to each other that has rows for it
    routed   // in stages by way of other processes, which add up partial sums: fewer messages
  };
  Kind kind = Kind::any;
  int num_stages = 0;  // with `routed`, at least 2; 0: by prediction

  friend bool operator==(const Exchange&, const Exchange&) = default;
};
// Text such as "auto", "direct", "routed", "routed:3".
std::string to_string(const Exchange& exchange);

// Options of a distribution. By default, everything is chosen by the predicted time of an iteration.
struct DistributionOptions {
  enum class Partition {
    any,         // the fastest by prediction
    block,       // contiguous slices
    random,      // by a random permutation
    hypergraph,  // by a partition of the tensor's hypergraph, which is cached (coarse and fine grain)
    file         // read from `partition_file` (coarse and fine grain)
  };
  enum class GridRule {
    fastest,   // the candidate with the smallest predicted time
    splatt,    // the grid that SPLATT chooses
    predicted  // the candidate with the most even layers
  };

  std::optional<Scheme> scheme = {};          // how nonzeros are distributed; default: by prediction
  bool allows_coarse = true;                  // whether coarse grain is a candidate if no scheme is given
  Partition partition = Partition::any;       // where parts of coarse and fine grain come from
  std::filesystem::path partition_file = {};  // one part per line; requires Partition::file
  std::filesystem::path cache = {};           // folder of cached partitions; default: the user's cache folder
  std::optional<GridShape> grid = {};         // process grid of medium grain; default: by `grid_rule`
  GridRule grid_rule = GridRule::fastest;     // how a grid is chosen
  int num_free_primes = 2;  // prime factors of the number of processes that are tried in every mode
  std::optional<LayerPolicy> policy = {};  // layers of medium grain; default: by prediction
  // Owners of factor rows; default: by prediction, greedy or balanced and in medium grain also even.
  std::optional<RowRule> row_rule = {};
  // One part per line for each slice, mode after mode, whether or not it has nonzeros; requires
  // RowRule::file.
  std::filesystem::path row_owners_file = {};
  std::uint64_t seed = 1;  // seed of random and hypergraph partitions
  // [mode]: whether every process holds all rows of the factor; default: chosen by prediction.
  std::optional<std::vector<bool>> is_replicated = {};
  // How rows are exchanged: one for all modes, or [mode]; empty (default): chosen by prediction.
  std::vector<Exchange> exchange = {};

  Exchange exchange_of(int mode) const {
    if (exchange.empty()) return {};
    return exchange.size() == 1 ? exchange.front() : exchange[std::size_t(mode)];
  }
};

}  // namespace polyad
