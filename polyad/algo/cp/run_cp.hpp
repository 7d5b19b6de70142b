#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyad/algo/cp/cp_als.hpp"
#include "polyad/algo/cp/observed_als.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/plan/format_choice.hpp"

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
  Index max_bytes = 0;                       // memory limit per process; 0: no limit
  MachineModel machine = {};                 // by which the formats are compared
};

// Storage formats of a tensor with predictions, and the one chosen.
struct FormatChoice {
  std::vector<FormatOption> options;
  FormatOption chosen;
};

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
  PartLoads loads;  // of all processes
  Timings timings;
  std::vector<Array<Real>> weights = {};  // see ObservedTensor
};

// A tensor of observed cells, with their weights, of which there are as many in the same places; none: all
// are 1. The format is csf, with a tree for each mode. Collective.
template <class Real>
PreparedTensor<Real> prepare_cells(const Comm& comm, SparseTensor<double> values,
                                   SparseTensor<double> weights, Progress& progress,
                                   const Distribution& distribution, Index num_components);

// [cell of the share]: 1, or -1 where it is held out. It depends on the seed and the place of the cell only.
Array<double> draw_held_out(const SparseTensor<double>& share, double held_out, std::uint64_t seed);

// The tensor for a model of observed cells. Those that are held out depend on the seed and their place only.
// `weights`: of the cells, which may be on other processes than these and in another order; of order 0: all
// are 1. They are divided by their mean. By default the format is csf, with a tree for each mode. Throws
// Error{bad_input} for weights of other cells, or of cells that occur twice. Collective.
template <class Real>
PreparedTensor<Real> prepare_observed(const Comm& comm, SparseTensor<double> share,
                                      const CpRunOptions& options, Progress& progress,
                                      const Distribution& distribution = {},
                                      SparseTensor<double> weights = {});

// Moves nonzeros to their owners, removes empty slices, sums duplicates, chooses format and plan,
// and builds the format. Without a distribution, as on one process, nothing is moved. Throws
// Error{resource} with a table of formats if no requested one fits into memory. Collective.
template <class Real>
PreparedTensor<Real> prepare(const Comm& comm, SparseTensor<double> share, const CpRunOptions& options,
                             Progress& progress, const Distribution& distribution = {});

// Counts of the nonzeros of a process: everything that the choice of a format depends on.
struct NonzeroShapes {
  TensorShape whole;                            // of the nonzeros of all processes
  std::vector<TensorShape> locals;              // of this process: one for all modes, or one per mode
  std::vector<Index> num_rows;                  // [mode], of this process
  std::vector<double> complete;                 // [mode]: see CostOptions
  std::vector<Index> num_lent, num_travelling;  // [mode]: see ExchangePlan
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

// Runs the method that the tensor was prepared for; `start` as in cp_als. Collective.
template <class Real>
CpResult<Real> run_cp(const PreparedTensor<Real>& x, const CpRunOptions& options,
                      const CpObserver& observe = {}, const Kruskal<Real>* start = nullptr);

// Outcome of one of several random starts.
struct StartOutcome {
  std::uint64_t seed = 0;
  double fit = 0;
  int iterations = 0;
};

template <class Real>
struct BestOfStarts {
  CpResult<Real> best;               // with the times of all
  std::vector<StartOutcome> starts;  // as many as were run
  std::uint64_t seed = 0;            // of the best
};

// The same from several random starts, with the seeds als.seed, als.seed + 1, ..., and the result with the
// best fit. No models are kept meanwhile: unless the last is the best, the best is computed once more. An
// observer that stops a run stops them all. With Start::svd, `start_model` is the start of the first only.
// Calls begin(start), from 1, before each. Collective.
template <class Real>
BestOfStarts<Real> run_starts(const PreparedTensor<Real>& x, CpRunOptions options, int num_starts,
                              const std::function<void(int)>& begin, const CpObserver& observe,
                              const Kruskal<Real>* start_model = nullptr);

// A table with a line per format: predicted time and memory.
std::string format_table(const std::vector<FormatOption>& options);

}  // namespace polyad
