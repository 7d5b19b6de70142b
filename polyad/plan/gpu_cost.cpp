#include "polyad/plan/gpu_cost.hpp"

namespace polyad {

// A nonzero has its value, all indices but that of the root, and a byte. A row is read for every node of the
// levels below the root; those of the root are written as sums, which the update reads.
double gpu_mode_seconds(const TensorShape& shape, std::span<const int> tree, const GpuRowSize& row,
                        const GpuModel& gpu) {
  const auto n = double(row.num_components);
  const double row_bytes = n * double(row.value_bytes);
  const auto nonzero_bytes = double(row.value_bytes + Index(sizeof(LocalIndex)) * (shape.order() - 1) + 1);
  const auto num_rows = double(shape.rows[tree.front()]);
  double seconds = gpu.per_copied_byte * (double(shape.num_nonzeros) * nonzero_bytes + num_rows * row_bytes);
  ModeSet above = ModeSet(1) << tree.front();
  for (const int mode : tree.subspan(1)) {
    above |= ModeSet(1) << mode;
    seconds +=
        shape.num_nodes(above) * row_bytes * gpu.per_gathered_byte(double(shape.rows[mode]) * row_bytes);
  }
  return gpu.per_mode + seconds + num_rows * n * (gpu.per_solved_entry + n * gpu.per_solved_product);
}

}  // namespace polyad
