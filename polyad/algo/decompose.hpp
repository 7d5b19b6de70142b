#pragma once

#include <string>
#include <vector>

#include "polyad/algo/cp_als.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/kernels/format_choice.hpp"

namespace polyad {

struct DecomposeOptions {
  CpAlsOptions als;
  std::string format = "auto";       // or one of format_names()
  std::vector<int> mode_order = {};  // empty: chosen from the tensor's statistics
  Index extra_bytes = 0;             // needed besides, as for writing the model
  Index max_bytes = 0;               // of memory; 0: no limit
};

// A tensor made ready for iterations: what was chosen, among what, and the tensor in that form.
template <class Real>
struct PreparedTensor {
  DistTensor<Real> tensor;
  FormatOption chosen;
  std::vector<FormatOption> options;
  Index num_nonzeros = 0, num_duplicates = 0;
  Timings timings;
};

// Drops empty slices, adds duplicates up, chooses format and plan, and builds. Throws Error{resource}, with
// a table of what would fit, when nothing that was asked for fits the memory.
template <class Real>
PreparedTensor<Real> prepare(const Comm& comm, SparseTensor<double> x, const DecomposeOptions& options,
                             Progress& progress);

// A line per option: predicted time and memory.
std::string format_table(const std::vector<FormatOption>& options);

}  // namespace polyad
