#pragma once

#include <functional>
#include <span>

#include "polyad/dense/dense_tensor.hpp"

namespace polyad::dense {

// In which order the elements of a tensor stand in a file.
enum class FileOrder { first_mode_fastest, last_mode_fastest };

// Reads or writes consecutive elements of a file, from the first-named position on.
template <class Real>
using ReadSlab = std::function<void(Index first, std::span<Real> into)>;
template <class Real>
using WriteSlab = std::function<void(Index first, std::span<const Real> from)>;

// A tensor from a file that all processes read at once, each its own stretches, and hand around in rounds, so
// that no process ever holds more than its part and a few megabytes. What `read` throws on one process, all
// throw. Collective.
template <class Real>
void distribute_slabs(DenseTensor<Real>& x, FileOrder order, const ReadSlab<Real>& read);

// The other way. Collective.
template <class Real>
void collect_slabs(const DenseTensor<Real>& x, FileOrder order, const WriteSlab<Real>& write);

}  // namespace polyad::dense
