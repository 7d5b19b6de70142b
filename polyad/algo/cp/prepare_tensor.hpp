#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyad/algo/cp/cp_run_options.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/plan/format_choice.hpp"
#include "polyad/plan/fused_passes.hpp"

namespace polyad {

// Storage formats of a tensor with predictions, and the one chosen.
struct FormatChoice {
  std::vector<FormatOption> options;
  FormatOption chosen;
};

// Which passes over the nonzeros may serve two modes.
PassOptions pass_options(const CpRunOptions& options);

// What `prepare` would choose for this tensor, without building it.
template <class Real>
FormatChoice suggest_format(SparseTensor<double> x, const CpRunOptions& options);

// A tensor in the chosen format, ready for iterations, with the alternatives.
template <class Real>
struct PreparedTensor {
  DistTensor<Real> tensor;
  FormatOption chosen;                // with the plan of this process
  std::vector<FormatOption> options;  // with the largest times and sizes of any process
  Index num_duplicates = 0;
  PartLoads loads;    // of all processes
  FusedPasses fused;  // as for other distributions of the tensor
  Timings timings;
  std::vector<Array<Real>> weights = {};  // see ObservedTensor
};

// Moves nonzeros to their owners, removes empty slices, sums duplicates, chooses format and plan,
// and builds the format. Without a distribution, as on one process, nothing is moved. Throws
// Error{resource} with a table of formats if no requested one fits into memory. Collective.
template <class Real>
PreparedTensor<Real> prepare(const Comm& comm, SparseTensor<double> share, const CpRunOptions& options,
                             Progress& progress, const Distribution& distribution = {});

// Counts of the nonzeros of a process: everything that the choice of a format depends on.
struct NonzeroShapes {
  TensorShape whole;                // of the nonzeros of all processes
  std::vector<TensorShape> locals;  // of this process: one for all modes, or one per mode
  std::vector<Index> num_rows;      // [mode], of this process
  std::vector<double> complete;     // [mode]: see CostOptions
  std::vector<Index> num_lent, num_travelling, num_folded;  // [mode]: see ExchangePlan
  Index moved_bytes = 0;  // peak memory of this process while nonzeros were moved and sorted
};

// Prepares a tensor repeatedly, for example for several numbers of components. It is
// sorted and built anew only if another format or other trees are chosen than before.
template <class Real>
class TensorPreparer {
 public:
  // Returns the share of this process, the same each time.
  using MakeShare = std::function<SparseTensor<double>()>;
  // The distribution, if given, must outlive this object.
  TensorPreparer(Comm comm, MakeShare make_share, const Distribution* distribution = nullptr)
      : comm_(std::move(comm)), make_share_(std::move(make_share)), distribution_(distribution) {}

  // The result of `prepare`. It is kept here, so that its values can be changed. Collective.
  PreparedTensor<Real>& prepare(const CpRunOptions& options, Progress& progress);
  PreparedTensor<Real>& prepared() { return *prepared_; }
  const PreparedTensor<Real>& prepared() const { return *prepared_; }
  int num_builds() const { return num_builds_; }

 private:
  LocalNonzeros<Real> sort(const CpRunOptions& options, Progress& progress);
  void check_sorting(const std::vector<SparseTensor<double>>& moved, const CpRunOptions& options) const;
  bool is_built_for(const FormatOption& chosen) const;

  Comm comm_;
  MakeShare make_share_;
  const Distribution* distribution_;
  std::vector<Index> extents_;
  std::optional<NonzeroShapes> shapes_;
  std::optional<PreparedTensor<Real>> prepared_;
  Timings timings_;
  Index moved_bytes_ = 0;  // see NonzeroShapes
  int num_builds_ = 0;
};

// A table with a line per format: predicted time and memory.
std::string format_table(const std::vector<FormatOption>& options);

}  // namespace polyad
