#pragma once

#include <memory>
#include <span>
#include <vector>

#include "polyad/algo/cp/observed_als.hpp"
#include "polyad/distributed/routed_exchange.hpp"
#include "polyad/gpu/cell_passes.hpp"
#include "polyad/kernels/cp/factor_vectors.hpp"

namespace polyad {

// The rows of a model that observed_als fits, and the sweeps over them. Collective.
template <class Real>
class ObservedSweeps {
 public:
  ObservedSweeps(const ObservedTensor<Real>& cells, const ObservedOptions& options,
                 const Kruskal<Real>* start, AskProcess ask = {});
  ObservedSweeps(const ObservedSweeps&) = delete;  // the exchanges refer to its rows
  ObservedSweeps& operator=(const ObservedSweeps&) = delete;

  // Sweeps in which cells that are not observed count as zeros, at first like the others, then, for a loss
  // that leaves them out, less and less. With many modes, rows that few cells determine from random rows fit
  // those at once, whatever the others are; sweeps then stay there. Zeros guide the first sweeps towards what
  // all cells have in common.
  void approach();

  Sweep sweep();
  const RunRequests& asked() const { return asked_; }  // in the last sweep

  std::vector<Matrix<Real>> owned_rows() const;
  const std::vector<Matrix<double>>& grams() const { return grams_; }

  void save(CpState<Real>& state);
  // Returns the rows to be filled; afterwards has_been_filled() is called.
  kernels::FactorVector<Real> restore(StateNumbers& numbers);
  void has_been_filled();
  std::vector<Index> num_owned() const;
  Index num_columns() const { return options_.num_components + (options_.has_biases ? x_.order() : 0); }
  int num_sweeps() const { return num_sweeps_; }  // those of approach() included
  StagedTraffic sent() const { return sent_so_far() - sent_before_; }
  // By all processes in a sweep, computed from the distribution: a row that is borrowed is sent once, and
  // where systems are folded, its system once.
  PlannedTraffic planned() const;
  const Timings& timings() const { return timings_; }

 private:
  StagedTraffic sent_so_far() const;
  kernels::FactorVector<Real> own_rows() { return kernels::first_rows_of<Real>(factors_, num_owned()); }

  // Each mode takes its part of the weights, whose columns have length one.
  void start_from(const Kruskal<Real>& start, int mode);

  void start_biases(int mode);

  bool is_nonnegative(int mode) const { return !options_.nonnegative.empty() && options_.nonnegative[mode]; }
  Index words() const { return kernels::words_of_system(options_.num_components, options_.has_biases); }
  bool has_tree(int mode) const { return cells_.cells(mode).tree != nullptr; }

  // Rows before this one are solved for at once, if a tree has them; the systems of the others are added up.
  Index first_sum(int mode) const { return has_tree(mode) ? x_.num_complete(mode) : 0; }
  Index end_sum(int mode) const { return x_.folds(mode) ? x_.num_rows(mode) : x_.num_owned(mode); }

  // The systems that are added up have a place for one mode at a time.
  void connect();

  // [row]: number of cells that count, right for the rows that this process owns. Collective.
  Array<Index> counts_of(int mode) const;
  static Array<Real> ridges_for(const Array<Index>& counts, const Shrinkage& shrinkage, double unit);

  kernels::RowSystems<Real> cells(int mode) const;
  kernels::RowSystems<Real> systems(int mode) const;

  void update(int mode);

  // Of the GPU, if there is one.
  void check_gpu() const;
  void make_passes();
  void put_rows(int mode);

  // Systems of rows that others have cells of are under way while those of the other rows are solved.
  void solve(const kernels::RowSystems<Real>& of_mode, int mode);

  // A mode whose cells can be visited in the order in which they are stored.
  int mode_to_measure() const;

  Sweep measure();

  // The regularisation of the rows that this process owns.
  double own_penalty() const;

  const ObservedTensor<Real>& cells_;
  const DistTensor<Real>& x_;
  const ObservedOptions& options_;
  AskProcess ask_;
  RunRequests asked_;
  std::vector<int> mode_order_;
  kernels::CellLoss loss_;
  std::vector<Matrix<Real>> factors_;
  std::vector<Matrix<double>> grams_;
  std::vector<Array<Real>> ridges_, bias_ridges_;  // [mode][row]
  Matrix<Real> nothing_;                           // no partial rows: systems are folded instead
  std::vector<RoutedExchange<Real>> exchanges_;
  Matrix<Real> sums_;                        // systems of the mode under way, see words_of_system()
  SharedArray<Real> under_way_;              // buffer of the fold in progress
  std::vector<RoutedExchange<Real>> folds_;  // of modes that are folded
  std::vector<std::size_t> fold_of_mode_;    // [mode]: its place there
  StagedTraffic sent_before_;                // before the first sweep
  int num_sweeps_ = 0;
  Timings timings_;
  std::unique_ptr<gpu::CellPasses<Real>> passes_;  // of the GPU; null: there is none
};

}  // namespace polyad
