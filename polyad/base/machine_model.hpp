#pragma once

#include <algorithm>
#include <cmath>

namespace polyad {

// How long a machine takes for the basic operations of a run, in seconds, while all processes are at work.
// Measured once per machine by `polyad doctor --calibrate` and stored in a file. The defaults are those of a
// small ARM64 machine whose processes communicate through shared memory.
struct MachineModel {
  // Of a process with this number of threads: for predicting distributions.
  int threads = 1;
  double per_message = 3e-6;         // latency of a message
  double per_word = 1.2e-9;          // to send or receive 8 bytes
  double per_packed_word = 6e-10;    // to copy a word into a message, or to add one from a message
  double per_near_gather = 2.5e-10;  // to read a component of a factor row, if the factor is in cache
  double per_far_gather = 1.5e-9;    // the same, if the factor is much larger than the cache
  double per_row = 2e-10;            // to update a factor row, divided by the square of the components
  double per_flop = 1 / 28e9;        // a floating-point operation of a matrix product, on one busy thread

  // Of one thread while all threads of the process are at work: for predicting formats and their iterations.
  double per_near_line = 1.32e-9;    // a cache line of a random factor row, from a table of near_bytes
  double per_far_line = 8.91e-9;     // the same, from a table of far_bytes
  double per_streamed_byte = 1e-10;  // read one after the other
  double per_node = 3e-9;            // of a tree: loop, branch, and what a short loop leaves unused
  double per_solved_row = 66.8e-9;   // of 16 components: solve, Gram matrix, norms
  double per_sorted_nonzero = 1e-7;  // when a tree is built

  // Factor sizes for `per_near_gather` and `per_far_gather`; logarithmic interpolation in between.
  static constexpr double near_bytes = 256e3, far_bytes = 128e6;
  // From 0, near, to 1, far.
  static double distance(double table_bytes);
  double per_gather(double table_bytes) const;

  // The same machine with processes of another number of threads, all at work: what threads share takes a
  // part of the time for each of more threads, messages take as long as before.
  MachineModel with_threads(int count) const;

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

inline MachineModel MachineModel::with_threads(int count) const {
  auto other = *this;
  other.threads = count;
  for (const auto shared : {&MachineModel::per_packed_word, &MachineModel::per_near_gather,
                            &MachineModel::per_far_gather, &MachineModel::per_row})
    other.*shared *= double(threads) / double(count);
  return other;
}

}  // namespace polyad
