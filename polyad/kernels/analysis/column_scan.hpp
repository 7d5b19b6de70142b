#pragma once

#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/tensor/kruskal_rows.hpp"

namespace polyad::kernels {

// An entry of one column of a factor.
struct FactorEntry {
  Index index = 0;
  double value = 0;

  friend bool operator==(const FactorEntry&, const FactorEntry&) = default;
};

// The largest number of points that stand for a column when it is drawn as a line.
inline constexpr Index max_line_points = 300;

// Results of a pass over the rows of a factor, for each of its columns.
struct ColumnFindings {
  std::vector<std::vector<FactorEntry>> strongest;  // [component], by magnitude
  std::vector<std::vector<FactorEntry>> lines;      // [component], by index
};

// Rows that the factor does not have are zero. Independent of the number of threads.
template <class Real>
ColumnFindings scan_columns(const KruskalRows<Real>& model, int mode, Index num_strongest);

}  // namespace polyad::kernels
