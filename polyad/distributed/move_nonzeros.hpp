#pragma once

#include <span>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// What this process gets when every process sends nonzero z of its share to owners[z]: by sender, and from
// each in its order. Some at a time, so that besides the share and what arrives there is little in memory.
// Collective.
SparseTensor<double> move_nonzeros(const Comm& comm, const SparseTensor<double>& share,
                                   std::span<const int> owners);

// What a process holds meanwhile: what it sends, where to, and what arrives.
Index bytes_while_moving(Index num_sent, Index num_received, int order);

}  // namespace polyad
