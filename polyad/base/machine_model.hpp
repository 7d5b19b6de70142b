#pragma once

#include <algorithm>
#include <cmath>

namespace polyad {

// What a machine takes, in seconds, with all processes at work (ALGORITHMS, section 6). Measured once per
// machine by `polyad doctor --calibrate` and kept in a file; these are those of a small ARM64 machine whose
// processes talk through shared memory.
struct MachineModel {
  double per_message = 3e-6;
  double per_word = 1.2e-9;          // sent or received; of 8 bytes
  double per_packed_word = 6e-10;    // gathered into a message, or added from one
  double per_near_gather = 2.5e-10;  // a component of a row that is fetched for a nonzero, from a table that
  double per_far_gather = 1.5e-9;    // a cache holds; from one that is far larger
  double per_row = 2e-10;            // a component squared of a row that is solved
  double per_flop = 1 / 28e9;        // in a product of matrices, for each thread that is at work

  // The tables that near and far were measured with; between them, by the logarithm of the size.
  static constexpr double near_bytes = 256e3, far_bytes = 128e6;
  double per_gather(double table_bytes) const;

  friend bool operator==(const MachineModel&, const MachineModel&) = default;
};

inline double MachineModel::per_gather(double table_bytes) const {
  const double far =
      std::log(std::max(table_bytes, near_bytes) / near_bytes) / std::log(far_bytes / near_bytes);
  return per_near_gather + std::min(far, 1.0) * (per_far_gather - per_near_gather);
}

}  // namespace polyad
