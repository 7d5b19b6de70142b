#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyad/algo/cp_als.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/dist/distribution.hpp"
#include "polyad/kernels/format_choice.hpp"

namespace polyad {

enum class Method {
  als,  // alternating least squares: cp_als
  opt   // all factors at once: cp_opt
};

struct DecomposeOptions {
  Method method = Method::als;
  CpAlsOptions als;                  // those that are not of als only are for every method
  std::string format = "auto";       // or one of format_names()
  std::vector<int> mode_order = {};  // empty: chosen from the tensor's statistics
  Index extra_bytes = 0;             // needed besides, as for writing the model
  Index max_bytes = 0;               // of memory, per process; 0: no limit
};

// How a tensor could be held, and how it is best held.
struct FormatChoice {
  std::vector<FormatOption> options;
  FormatOption chosen;
};

// What `prepare` would choose for this tensor, without building it.
template <class Real>
FormatChoice suggest_format(SparseTensor<double> x, const DecomposeOptions& options);

// A tensor made ready for iterations: what was chosen, among what, and the tensor in that form.
template <class Real>
struct PreparedTensor {
  DistTensor<Real> tensor;
  FormatOption chosen;                // with the plan of this process
  std::vector<FormatOption> options;  // with the largest times and bytes of any process
  Index num_duplicates = 0;
  PartLoads loads;  // of all processes
  Timings timings;
};

// Moves the nonzeros to their owners, drops empty slices, adds duplicates up, chooses format and plan, and
// builds. Without a distribution, as on one process, all stays where it is. Throws Error{resource}, with a
// table of what would fit, when nothing that was asked for fits the memory. Collective.
template <class Real>
PreparedTensor<Real> prepare(const Comm& comm, SparseTensor<double> share, const DecomposeOptions& options,
                             Progress& progress, const Distribution& distribution = {});

// By the method that the tensor was prepared for. Collective.
template <class Real>
CpResult<Real> decompose(const PreparedTensor<Real>& x, const DecomposeOptions& options,
                         const CpObserver& observe = {});

// A line per option: predicted time and memory.
std::string format_table(const std::vector<FormatOption>& options);

}  // namespace polyad
