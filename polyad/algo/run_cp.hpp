#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyad/algo/cp_als.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/plan/format_choice.hpp"

namespace polyad {

struct CpRunOptions {
  Method method = Method::als;
  CpAlsOptions als;                  // those that are not of als only are for every method
  std::string format = "auto";       // or one of format_names()
  std::vector<int> mode_order = {};  // empty: chosen from the tensor's statistics
  Index extra_bytes = 0;             // needed besides, as for writing the model
  Index read_bytes = 0;              // that reading took, less what the program itself takes
  Index max_bytes = 0;               // of memory, per process; 0: no limit
  MachineModel machine = {};         // by which the formats are compared
};

// How a tensor could be held, and how it is best held.
struct FormatChoice {
  std::vector<FormatOption> options;
  FormatOption chosen;
};

// What `prepare` would choose for this tensor, without building it.
template <class Real>
FormatChoice suggest_format(SparseTensor<double> x, const CpRunOptions& options);

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
PreparedTensor<Real> prepare(const Comm& comm, SparseTensor<double> share, const CpRunOptions& options,
                             Progress& progress, const Distribution& distribution = {});

// What the nonzeros that a process holds are like: all that a choice of format depends on.
struct NonzeroShapes {
  TensorShape whole;                            // of the nonzeros of all processes
  std::vector<TensorShape> locals;              // of this process: one for all modes, or one per mode
  std::vector<Index> num_rows;                  // [mode], of this process
  std::vector<double> complete;                 // [mode]: see CostOptions
  std::vector<Index> num_lent, num_travelling;  // [mode]: see ExchangePlan
  Index moved_bytes = 0;  // that this process held while nonzeros were moved to their owners and sorted
};

// Prepares a tensor again and again, as for one number of components after the other. It is sorted and built
// anew only when another format or other trees are chosen than the last time.
template <class Real>
class TensorPreparer {
 public:
  // Makes the share of this process, the same each time.
  using MakeShare = std::function<SparseTensor<double>()>;
  // The distribution, if there is one, must stay where it is.
  TensorPreparer(Comm comm, MakeShare make_share, const Distribution* distribution = nullptr)
      : comm_(std::move(comm)), make_share_(std::move(make_share)), distribution_(distribution) {}

  // What the function above returns. It stays here, so that its values can be changed. Collective.
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

// By the method that the tensor was prepared for. Collective.
template <class Real>
CpResult<Real> run_cp(const PreparedTensor<Real>& x, const CpRunOptions& options,
                      const CpObserver& observe = {});

// A line per option: predicted time and memory.
std::string format_table(const std::vector<FormatOption>& options);

}  // namespace polyad
