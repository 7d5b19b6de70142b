#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// A number that depends on all coordinates of a nonzero, evenly spread.
std::uint64_t coordinate_hash(const SparseTensor<double>& x, Index z);
// Which of several processes nonzeros with this hash meet on.
int meeting_place(std::uint64_t hash, int processes);

// Makes nonzeros that occur several times, on whatever processes, go where the first of them goes:
// parts[z] is that of nonzero z of the share. Collective.
void follow_first(const Comm& comm, const SparseTensor<double>& share, std::span<int> parts);

// The nonzeros, ascending, whose coordinates an earlier one has.
std::vector<Index> find_repeated(const SparseTensor<double>& x);

}  // namespace polyad
