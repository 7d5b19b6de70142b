#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyad/distributed/cp/distribution_options.hpp"
#include "polyad/tasks/checkpoint.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/cp_model.hpp"
#include "polyad/tasks/device.hpp"
#include "polyad/tasks/precision.hpp"
#include "polyad/tasks/tensor.hpp"

namespace polyad {

// How the nonzeros are stored in memory while the decomposition iterates; docs/cpd.md compares them.
enum class StorageFormat {
  automatic,  // the fastest by prediction that fits
  csf,        // compressed sparse fibers, with the trees that the planner chooses
  csf_one,    // one tree for all modes
  csf_two,    // two trees
  csf_all,    // a tree for each mode
  coo,        // coordinates
  hicoo       // blocks of coordinates
};
// "auto", "csf", "csf-one", ..., as the command line calls them; and all of them.
std::string to_string(StorageFormat format);
std::span<const StorageFormat> all_storage_formats();

// The largest number of components that a task accepts.
inline constexpr Index max_rank = 100000;
// The largest number of random starts that a task accepts.
inline constexpr int max_starts = 1000;

// Places without nonzeros are unknown, and the model is fitted to the others only, zeros among them included.
struct MissingOptions {
  // L2 regularisation of factors, per cell, for values whose mean square is 1. More of it gives smaller
  // factors, which predict unknown cells better where few are known.
  double regularisation = 1e-3;
  // Share of the cells, chosen at random, that the model does not learn from, so that its error at unknown
  // cells is measured; between 0 and 1. The model with the lowest error there is kept.
  double test_fraction = 0;
  int patience =
      5;  // with test cells: stop after this number of iterations without a fall of the error by 0.01 %
  // A weight for each cell: how much its error counts, 0 or more, in units of the mean. The same dims and
  // cells as the tensor, in any order (default: all count the same).
  std::optional<Tensor> weights = {};
  // The model gets the mean of the cells, and a bias for every row of every mode, regularised as the row is:
  // value = mean + biases of its rows + components. They are its last components: the mean, then the biases
  // of each mode, with equal entries in the other modes. Not with nonnegative factors.
  bool has_biases = false;
};

// Implicit feedback: what was counted says which cells are preferred, and how surely. Every cell counts, with
// weight 1 towards a preference of 0; one of value x has weight 1 + alpha * |x| / (the mean of |x|), towards
// 1 if x is positive, and towards 0 if it is negative or zero.
struct ImplicitOptions {
  double alpha = 3;
  // The loss of a row with n cells is regularised by (regularisation * n + shrinkage) * |row|^2. Nothing: 0.2
  // and 20 for two modes, as in `complete`; else 0 and 1, since models of more modes vanish where this is
  // large.
  std::optional<double> regularisation = {}, shrinkage = {};
  // Share of the cells, chosen at random, that the model does not learn from, so that its lists are measured
  // by them; between 0 and 1. The items are those of the second mode.
  double test_fraction = 0;
};

struct DecomposeOptions {
  Index rank = 0;  // number of components; required
  Method method = Method::als;
  std::optional<MissingOptions> missing = {};  // nothing: places without nonzeros are zero (else Method::als)
  std::optional<ImplicitOptions> implicit = {};  // nothing: values are values; not with `missing`
  int max_iterations = 50;
  double tolerance = 1e-5;         // stop when the fit changes by less than this times the fit; 0: never
  std::uint64_t seed = 1;          // of the first random start
  Start start = Start::automatic;  // initial factors; svd: those of the first start
  // A model of the same dims, and labels if both have any, with at most `rank` components, from which the
  // iterations continue; further components, and those that vanished in it, start as above (default: none).
  std::optional<CpModel> start_model = {};
  int num_starts = 1;                       // with the seeds `seed`, `seed` + 1, ...; the best is kept
  bool nonnegative = false;                 // no negative entries in any factor (Method::als)
  std::vector<int> nonnegative_modes = {};  // the same in these modes only, counted from 0
  Precision precision = Precision::float64;
  StorageFormat format = StorageFormat::automatic;
  Device device = {};                     // that computes the iterations
  std::vector<int> mode_order = {};       // of the updates, counted from 0 (Method::als); empty: chosen
  Index max_memory_bytes = 0;             // per process; 0: the memory of the machine for its processes
  DistributionOptions distribution = {};  // over the processes; its seed is replaced by the one above
  std::optional<CheckpointOptions> checkpoint = {};  // nothing: none are written or looked for
  // Stop after the iteration beyond which another one would take longer, counted with the time of reading the
  // tensor; 0: no limit.
  double max_seconds = 0;
  CpObserver observer = {};  // called after each iteration on every process
};

// Throws Error{bad_option} for options that make no sense whatever the tensor.
void validate(const DecomposeOptions& options);

// The CP decomposition of a sparse tensor: places without nonzeros count as zeros unless options.missing says
// that they are unknown. Chooses how the tensor is distributed, stored and traversed, and reports it in
// CpModel::summary. The result depends on the tensor, the options and, up to rounding, on nothing else. Move
// the tensor in if it is not needed afterwards: its memory is reused. Throws Error{resource} when nothing
// that was asked for fits into max_memory_bytes. Collective.
CpModel decompose(const Context& context, Tensor x, const DecomposeOptions& options);

// Throws Error{interrupted} for a model whose iterations a signal or the time limit ended, with a sentence
// that says how to go on. A program calls it after it has written such a model.
void require_finished(const CpModel& model);

}  // namespace polyad
