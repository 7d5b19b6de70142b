#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/distinct_counts.hpp"

namespace polyad {

// Merges the sketches of all processes in place. Collective.
template <std::ranges::range Sketches>
void merge_over(const Comm& comm, Sketches&& sketches) {
  for (DistinctSketch& sketch : sketches) {
    const auto registers = sketch.registers();
    std::vector<std::int32_t> largest(registers.begin(), registers.end());
    comm.all_reduce(std::span(largest), Reduce::max);
    std::ranges::copy(largest, registers.begin());
  }
}

}  // namespace polyad
