#pragma once

namespace polyad {

// What a machine takes, in seconds, with all processes at work (ALGORITHMS, section 6). Measured once per
// machine by `polyad doctor --calibrate` and kept in a file; these are those of a small ARM64 machine whose
// processes talk through shared memory.
struct MachineModel {
  double per_message = 3e-6;
  double per_word = 1.2e-9;        // sent or received; of 8 bytes
  double per_packed_word = 6e-10;  // gathered into a message, or added from one
  double per_gather = 6.5e-10;     // a component of a row that is fetched for a nonzero
  double per_row = 2e-10;          // a component squared of a row that is solved

  friend bool operator==(const MachineModel&, const MachineModel&) = default;
};

}  // namespace polyad
