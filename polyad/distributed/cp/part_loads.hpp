#pragma once

#include <span>
#include <utility>
#include <vector>

#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/distributed/cp/greedy_owners.hpp"
#include "polyad/distributed/cp/grouped_nonzeros.hpp"
#include "polyad/distributed/virtual_topology.hpp"

namespace polyad {

// Work and communication of one part for one mode in an iteration, in rows of one word per component.
struct PartLoad {
  Index nonzeros = 0;            // nonzeros that it multiplies
  Index touched = 0;             // rows of the mode in which it has nonzeros, for any mode
  Index local = 0;               // rows that it holds: touched or owned
  Index owned = 0;               // rows that it updates
  Index reduced = 0;             // rows that are all-reduced instead of exchanged
  Index sent = 0, received = 0;  // rows sent and received by fold and expand together
  Index messages = 0;            // messages that it sends
  // Of the nonzeros, those in rows that it owns and that no other part touches: a pass over them completes
  // the sums of these rows. 0 in coarse grain, where every mode has nonzeros of its own, and in replicated
  // modes.
  Index complete = 0;

  friend bool operator==(const PartLoad&, const PartLoad&) = default;
};

// What a part sends and receives in one stage of an exchange, in fold and expand together: a part of what its
// PartLoad says.
struct StageLoad {
  Index sent = 0, received = 0, messages = 0;

  friend bool operator==(const StageLoad&, const StageLoad&) = default;
};

// [part]: the loads of a mode.
struct ModeLoads : std::vector<PartLoad> {
  ModeLoads() = default;
  ModeLoads(std::vector<PartLoad> loads) : vector(std::move(loads)) {}  // NOLINT(*-explicit-*): the same

  std::vector<std::vector<StageLoad>> stages;  // [stage][part]; empty: rows go directly
  bool folds = false;  // whether parts add to rows of others: then nonzeros serve all modes
  // [part]: nodes between the root and the nonzeros of a tree over its nonzeros that has the mode at the
  // root; empty: not counted. Their number for each nonzero, if one part had all nonzeros.
  std::vector<Index> nodes;
  double nodes_per_nonzero = 0;
};
// [mode]. Of parts that have nothing to do in any mode, all but one can be left out.
struct PartLoads : std::vector<ModeLoads> {
  using vector::vector;

  Index num_left_out = 0;

  Index num_parts() const { return std::ssize(front()) + num_left_out; }
};
// Whether all parts are listed that have nothing to do, or one for all of them. All are listed if rows go in
// stages, in which any part may pass them on.
enum class IdleParts { all, one };

// Converts the loads of a mode to those if the mode is replicated.
void replicate(ModeLoads& loads);

// Computes the loads of distributions of a tensor without moving nonzeros, for any number of parts. With
// a fraction below 1, only a sample of about that fraction of the nonzeros is evaluated for each mode and
// extrapolated, which is fast and approximate. Memory is linear in the nonzeros and independent of the number
// of parts.
class LoadPlanner {
 public:
  // Every process has a share; if one process has all, a fraction of 1 is exact. Duplicates
  // count separately, unless those after the first are listed in `repeated`. Collective.
  LoadPlanner(const Comm& comm, const SparseTensor<double>& share, double fraction = 1,
              std::vector<Index> repeated = {});

  int order() const { return share_.order(); }
  Index num_nonzeros() const { return num_nonzeros_; }  // of all processes

  // Computes the loads, of modes in as many stages as the distribution says. Collective. On several processes
  // greedy and balanced owners are predicted for ranges of rows, which approximates choose_owners and takes
  // less time, until choose_owners_as_runs() says otherwise.
  PartLoads loads(const Distribution& distribution, IdleParts idle = IdleParts::all) const;

  // From now on, nodes are counted of these trees, [mode]: the modes of its levels, from the root down.
  // Collective.
  void count_nodes(std::vector<std::vector<int>> trees);

  // From now on, greedy and balanced owners are chosen from all rows that are evaluated, together.
  void choose_owners_as_runs() { owners_as_runs_ = true; }

  // What is needed to compute the loads of a mode again with other numbers of stages.
  struct Touching {
    RowParts rows;            // those of this process's range, or of a sample
    std::vector<int> owners;  // of these rows
    double fraction;          // of the rows of the mode
    bool folds;
  };
  Touching touching(const Distribution& distribution, int mode) const;
  // The loads if the rows of the mode go by this topology, from those if they go directly. Collective.
  ModeLoads routed(const Touching& touching, ModeLoads direct, const VirtualTopology& topology) const;

 private:
  using Parts = Array<int>;  // [nonzero]

  // The nonzeros from which the loads of a mode are computed, and those that are counted.
  const GroupedNonzeros& evaluated(int mode) const { return sets_[sets_.size() == 1 ? 0 : mode]; }
  const GroupedNonzeros& counted() const { return sets_.back(); }
  std::vector<Parts> parts_in(const GroupedNonzeros& set, const Distribution& distribution) const;
  std::vector<Index> count_nonzeros(const Parts& parts, int num_parts) const;
  // [part]: see PartLoad. rows: those of the mode that are evaluated; nonzeros: of all parts. Collective.
  std::vector<Index> count_complete(int mode, const RowParts& rows, std::span<const int> owners,
                                    const Parts& parts, std::span<const Index> nonzeros) const;
  // Sets those of the mode, of nonzeros in these parts. Collective.
  void set_nodes(int mode, const Parts& parts, ModeLoads& loads) const;
  RowParts rows_and_parts(int mode, const std::vector<Parts>& parts, int num_parts) const;
  Touching touching(const Distribution& distribution, int mode, const std::vector<Parts>& parts) const;
  Index max_busy_parts() const;
  PartLoads loads_of_busy(const Distribution& distribution, std::vector<Parts> parts) const;

  Comm comm_;
  const SparseTensor<double>& share_;
  Index num_nonzeros_;
  std::vector<Index> repeated_;
  // One set for all purposes; or one for each mode, on the process that deals with its rows, and one of
  // nonzeros that are counted.
  std::vector<GroupedNonzeros> sets_;
  std::vector<double> fractions_;  // [mode]: of its rows, that are evaluated
  double per_counted_ = 1;         // nonzeros of the share for each that is counted
  // [mode]: nonzeros for each that is evaluated, where their number is not a weight.
  std::vector<double> per_evaluated_;
  std::vector<std::vector<int>> trees_;    // [mode]; empty: no nodes are counted
  std::vector<double> nodes_per_nonzero_;  // [mode]: of all nonzeros in one part
  bool owners_as_runs_ = false;
};

}  // namespace polyad
