#pragma once

#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Nonzeros of a share from which the loads of distributions are estimated: the nonzeros of random rows of
// every mode, the same rows on all processes, because communication depends on everything that touches a row
// (of rows with very many nonzeros, a part of these, where there are several processes); and random nonzeros,
// for counts. The time to draw it is linear in the share, that to use it is not.
struct LoadSample {
  struct Rows {
    Array<Index> places;    // of nonzeros of the sampled rows in the share, ascending
    Array<double> weights;  // how many nonzeros of its row each of these stands for; empty: one
    double fraction = 1;    // of the rows of the mode, that are sampled
  };
  std::vector<Rows> rows;  // [mode]
  Array<Index> counted;    // places of the random nonzeros, ascending
  double per_counted = 1;  // nonzeros of the share for each of `counted`
};

// A sample of about this fraction of the nonzeros for each mode, and once more for the counts. Modes with so
// few rows that random rows would not represent them are taken from the random nonzeros. Collective.
LoadSample sample_loads(const Comm& comm, const SparseTensor<double>& share, double fraction);

}  // namespace polyad
