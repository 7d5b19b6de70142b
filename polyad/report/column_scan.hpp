#pragma once

#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/report/component_summary.hpp"

namespace polyad::report {

// What a pass over the rows of a factor finds in each of its columns.
struct ColumnFindings {
  std::vector<std::vector<FactorEntry>> strongest;  // [component], by magnitude
  std::vector<std::vector<FactorEntry>> lines;      // [component], by index
};

// Rows that the factor does not have are zero. The same for any number of threads.
template <class Real>
ColumnFindings scan_columns(const KruskalRows<Real>& model, int mode, Index num_strongest);

}  // namespace polyad::report
