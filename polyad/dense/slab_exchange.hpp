#pragma once

#include <functional>
#include <span>

#include "polyad/dense/dense_tensor.hpp"

namespace polyad::dense {

// Order of the elements of a tensor in a file.
enum class FileOrder { first_mode_fastest, last_mode_fastest };

// Reads or writes consecutive elements of a file, starting at the given position.
template <class Real>
using ReadSlab = std::function<void(Index first, std::span<Real> into)>;
template <class Real>
using WriteSlab = std::function<void(Index first, std::span<const Real> from)>;

// Reads a tensor from a file with all processes, each reading its own ranges, and
// redistributes it in rounds, so that no process holds more than its part and a
// few megabytes. An error of `read` on one process is thrown on all. Collective.
template <class Real>
void distribute_slabs(DenseTensor<Real>& x, FileOrder order, const ReadSlab<Real>& read);

// Writes a tensor to a file in the same way. Collective.
template <class Real>
void collect_slabs(const DenseTensor<Real>& x, FileOrder order, const WriteSlab<Real>& write);

}  // namespace polyad::dense
