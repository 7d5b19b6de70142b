#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyad/algo/cp/cp_options.hpp"
#include "polyad/base/matrix.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad {

// The result of a CP decomposition, from `decompose` or `load_model`: the tensor is approximated by the sum
// over r of weights()[r] times the outer product of the r-th columns of the factors. On several processes
// each holds the rows that it owns, and what is marked as collective is called by all of them. Copies share
// the same model.
class CpModel {
 public:
  struct State;  // private to the library
  explicit CpModel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  // Moving copies, so that a model can be used after it was moved from.
  CpModel(const CpModel&) = default;
  CpModel& operator=(const CpModel&) = default;
  ~CpModel() = default;

  Index rank() const;
  int order() const;
  const std::vector<Index>& dims() const;
  const std::vector<ModeLabels>& labels() const;  // one entry per mode

  // Descending for models of `decompose`, but for those of a mean and biases, which come last; a component
  // that vanished has weight zero.
  const std::vector<double>& weights() const;
  // A factor with a row for every index of the mode, also for empty slices, and a column for every component,
  // of 2-norm 1 for models of `decompose`. All processes get the whole factor. Modes count from 0.
  // Collective.
  Matrix<double> factor(int mode) const;
  // The same in blocks of rows, for factors that do not fit in the memory of a process: on process 0
  // take(first, rows) is called for all blocks in order; the others take part. Collective.
  using TakeRows = std::function<void(Index first, const Matrix<double>& rows)>;
  void read_factor(int mode, const TakeRows& take) const;

  // 1 - |X - model| / |X|, its value after every iteration, and why the iterations ended. Of a model that was
  // loaded: what its summary.json says; else nan, no values and nothing.
  double fit() const;
  const std::vector<double>& fits() const;
  std::optional<StopReason> stop_reason() const;

  // What was done, the fit, and how long it took: text for people.
  std::string summary() const;
  // How it was computed: the storage format and why it was chosen, and the passes of an iteration. Empty for
  // a model that was loaded.
  std::string details() const;
  // The strongest entries of every component, with labels; on process 0. Collective.
  std::string component_table(Index entries_per_mode = 5) const;
  // The components as the report shows them: an HTML page of their cards and nothing else, for notebooks; on
  // process 0. Collective.
  std::string component_cards(Index entries_per_mode = 5) const;
  // All figures of the run as one JSON object; docs/json.md describes its keys.
  std::string json() const;
  // The most memory that a process had in use until now, in bytes.
  Index peak_memory_bytes() const;

  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace polyad
