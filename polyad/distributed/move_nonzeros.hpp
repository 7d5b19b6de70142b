#pragma once

#include <span>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Redistributes nonzeros: every process sends nonzero z of its share to owners[z].
// Returns those received, ordered by sender and then as in its share. Works in steps,
// so that little memory is needed besides the share and the result. Collective.
SparseTensor<double> move_nonzeros(const Comm& comm, const SparseTensor<double>& share,
                                   std::span<const int> owners);

// Peak memory of a process during move_nonzeros, in bytes: what it sends, the owners, and what it receives.
Index bytes_while_moving(Index num_sent, Index num_received, int order);

}  // namespace polyad
