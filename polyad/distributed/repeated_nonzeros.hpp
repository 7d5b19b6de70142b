#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// A uniformly distributed hash of all coordinates of a nonzero.
std::uint64_t coordinate_hash(const SparseTensor<double>& x, Index z);
// The process, of `processes`, that compares nonzeros with this hash.
int meeting_place(std::uint64_t hash, int processes);

// Assigns nonzeros with equal coordinates, on any processes, to the part of the
// first of them: parts[z] is the part of nonzero z of the share. Collective.
void follow_first(const Comm& comm, const SparseTensor<double>& share, std::span<int> parts);

// The nonzeros, in ascending order, whose coordinates are those of an earlier one.
std::vector<Index> find_repeated(const SparseTensor<double>& x);

}  // namespace polyad
