#pragma once

#include <algorithm>
#include <cmath>

namespace polyad {

// How long a machine takes for the basic operations of a run, in seconds, while all processes are at work.
// Measured once per machine by `polyad doctor --calibrate` and stored in a file. The defaults are those of a
// small ARM64 machine whose processes communicate through shared memory.
struct MachineModel {
  // Of a process with all its threads: for predicting distributions.
  double per_message = 3e-6;
  double per_word = 1.2e-9;          // sent or received; of 8 bytes
  double per_packed_word = 6e-10;    // gathered into a message, or added from one
  double per_near_gather = 2.5e-10;  // a component of a row that is fetched for a nonzero, from a table that
  double per_far_gather = 1.5e-9;    // a cache holds; from one that is far larger
  double per_row = 2e-10;            // a component squared of a row that is solved
  double per_flop = 1 / 28e9;        // in a product of matrices, for each thread that is at work

  // Of one thread while all threads of the process are at work: for predicting formats and their iterations.
  double per_near_line = 1.32e-9;    // a cache line of a random factor row, from a table of near_bytes
  double per_far_line = 8.91e-9;     // the same, from a table of far_bytes
  double per_streamed_byte = 1e-10;  // read one after the other
  double per_node = 3e-9;            // of a tree: loop, branch, and what a short loop leaves unused
  double per_solved_row = 66.8e-9;   // of 16 components: solve, Gram matrix, norms
  double per_sorted_nonzero = 1e-7;  // when a tree is built

  // The tables that near and far were measured with; between them, by the logarithm of the size.
  static constexpr double near_bytes = 256e3, far_bytes = 128e6;
  // From 0, near, to 1, far.
  static double distance(double table_bytes);
  double per_gather(double table_bytes) const;

  friend bool operator==(const MachineModel&, const MachineModel&) = default;
};

inline double MachineModel::distance(double table_bytes) {
  const double far =
      std::log(std::max(table_bytes, near_bytes) / near_bytes) / std::log(far_bytes / near_bytes);
  return std::min(far, 1.0);
}

inline double MachineModel::per_gather(double table_bytes) const {
  return per_near_gather + distance(table_bytes) * (per_far_gather - per_near_gather);
}

}  // namespace polyad
