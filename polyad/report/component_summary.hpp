#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "polyad/kernels/analysis/column_scan.hpp"
#include "polyad/kernels/analysis/congruence.hpp"
#include "polyad/tensor/kruskal_rows.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::report {

// An entry of a component that is strong in its mode.
struct StrongEntry {
  Index index = 0;  // in the whole mode, from 0
  double value = 0;
  std::string label;  // or the index from 1, as text

  friend bool operator==(const StrongEntry&, const StrongEntry&) = default;
};

// The label of an index, or the index from 1 as text where there is none.
std::string label_of(const ModeLabels& labels, Index index);

// Whether an entry is only rounding: negligible relative to the largest of its column.
inline bool is_negligible(const StrongEntry& entry, double largest) {
  return std::abs(entry.value) < 1e-3 * largest;
}

struct ComponentMode {
  std::vector<StrongEntry> strongest;      // by magnitude, then by index; zeros are not among them
  std::vector<kernels::FactorEntry> line;  // by index, over the whole extent; only where the mode is ordered
};

struct SummarisedComponent {
  double weight = 0;
  double relative_weight = 0;  // relative to the largest, by magnitude
  std::vector<ComponentMode> modes;
  std::string name = {};  // of one that is no pattern, as "the mean"; empty: it is one

  bool vanished() const { return weight == 0; }
};

struct SummarisedMode {
  enum class Kind { ordered, categories };

  std::string name;  // "mode 2" if the file has none
  Index extent = 0;
  Index num_rows = 0;  // nonempty slices
  Kind kind = Kind::ordered;
  std::string first_label, last_label;
};

struct ComponentSummary {
  std::vector<SummarisedMode> modes;
  std::vector<SummarisedComponent> components;    // in the order of the model
  std::vector<kernels::CongruentPair> congruent;  // beyond congruence_limit, the closest first
};

// The rows that a model has: those of non-empty slices, as in CompactTensor.
struct ModelRows {
  std::vector<std::span<const Index>> global;  // [mode][row of the factor]: row of the whole, ascending
  std::span<const Index> extents;              // of the whole
};

// Takes two passes over the rows of each factor, in blocks; no array is as long as an extent. A line
// has at most max_line_points: of longer modes the smallest and largest value of each interval.
template <class Real>
ComponentSummary summarise_components(const Kruskal<Real>& model, const ModelRows& rows,
                                      std::span<const ModeLabels> labels, Index num_strongest = 8);
template <class Real>
ComponentSummary summarise_components(const KruskalRows<Real>& model, std::span<const ModeLabels> labels,
                                      Index num_strongest = 8);

// Names the last components of a model with biases, see append_biases; their equal entries are not shown.
void name_biases(ComponentSummary& summary);

// A sentence for each congruent pair, up to a few: "components 2 and 5 nearly cancel each other ...".
std::vector<std::string> congruence_warnings(const ComponentSummary& summary);

}  // namespace polyad::report
