#pragma once

#include <algorithm>
#include <cmath>

namespace polyad {

// How long a GPU takes for the parts of an iteration, in seconds. Measured by `polyad doctor --calibrate` and
// stored with the MachineModel. The defaults are those of an NVIDIA H200.
struct GpuModel {
  double per_copied_byte = 2.4e-13;    // that is read or written in its memory, one after the other
  double per_uploaded_byte = 1.4e-10;  // from the memory of the machine
  double per_near_byte = 1.3e-13;      // of random rows from a table of near_bytes, in a pass
  double per_far_byte = 3e-13;         // the same, from a table of far_bytes
  double per_solved_entry = 6.3e-12;   // of a new row, for each component
  double per_solved_product = 2e-13;   // of a new row, for each pair of components
  double per_mode = 3.5e-5;            // to start the kernels of a mode and to wait for its sums

  // Sizes of tables; logarithmic interpolation in between.
  static constexpr double near_bytes = 4e6, far_bytes = 1e9;
  double per_gathered_byte(double table_bytes) const {
    const double far =
        std::log(std::max(table_bytes, near_bytes) / near_bytes) / std::log(far_bytes / near_bytes);
    return per_near_byte + std::min(far, 1.0) * (per_far_byte - per_near_byte);
  }

  friend bool operator==(const GpuModel&, const GpuModel&) = default;
};

}  // namespace polyad
