#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyad/algo/cp/cp_als.hpp"
#include "polyad/base/gpu_model.hpp"
#include "polyad/base/machine_model.hpp"

namespace polyad {

// Cells that are not in the tensor are unknown or, with `alpha`, count less than the others.
struct ObservedRun {
  double regularisation = 0;  // see Shrinkage::per_rating; for values of size one
  double held_out = 0;        // share of the cells that the model does not learn from
  int patience = 3;           // see ObservedOptions; implicit feedback has none
  // With a value: implicit feedback. Every cell counts, with weight 1 towards 0; one of value x has weight
  // 1 + alpha * |x| / (mean of |x|), towards 1 if x is positive and towards 0 if not.
  std::optional<double> alpha = {};
  double per_row = 0;  // see Shrinkage; with `alpha` only
  // The mean of the cells and a bias for every row of every mode are part of the model (see append_biases);
  // a bias is regularised as a row is. Not with `alpha`, nor with nonnegative factors.
  bool has_biases = false;
  std::vector<std::vector<double>> start_biases = {};  // see ObservedOptions; in units of the tensor
};

struct CpRunOptions {
  Method method = Method::als;
  std::optional<ObservedRun> observed = {};  // with Method::als
  CpAlsOptions als;                          // all but `nonnegative` apply to every method
  std::string format = "auto";               // or one of format_names()
  std::vector<int> mode_order = {};          // empty: chosen from statistics of the tensor
  Index extra_bytes = 0;                     // memory needed in addition, for example to write the model
  Index read_bytes = 0;                      // peak memory of reading, without the program itself
  Index max_bytes = 0;                       // memory limit per process; 0: the machine's, for its processes
  MachineModel machine = {};                 // by which the formats are compared
  GpuModel gpu_model = {};                   // by which the time on a GPU is predicted
};

}  // namespace polyad
