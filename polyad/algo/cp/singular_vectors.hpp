#pragma once

#include <cstdint>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/row_owners.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

struct SingularOptions {
  Index max_vectors = 1;
  // A vector u is good enough when |X X^T u - s^2 u| is at most this times s^2.
  double tolerance = 1e-3;
  int max_products = 60;   // with X X^T, after which the vectors are taken as they are
  std::uint64_t seed = 1;  // of the first subspace
};

// Left singular vectors of a matrix whose rows are distributed.
struct SingularVectors {
  std::vector<double> values;  // singular values, descending, without those that are zero up to rounding
  RowOwners owners;            // the process that has a row
  Array<Index> rows;       // [row]: the global row, of those with nonzeros that this process owns; ascending
  Matrix<double> vectors;  // [row, as above][vector]; of length one, the largest entry is positive
  int num_products = 0;    // with X X^T
};

// The leading left singular vectors of X_(mode), the matrix with a row per index of the mode and a column per
// combination of the others, which is not formed: by subspace iteration on X X^T with Chebyshev polynomials
// (Zhou, Saad, Tiago and Chelikowsky 2006; docs/algorithms.md). Every process passes a share of the nonzeros.
// Up to rounding, the result does not depend on the number of threads and processes. Collective.
SingularVectors leading_singular_vectors(const Comm& comm, SparseTensor<double> share, int mode,
                                         const SingularOptions& options);

// Peak memory of a process, in bytes.
Index singular_vector_bytes(Index num_nonzeros, int order, Index num_rows, Index max_vectors);

}  // namespace polyad
