#pragma once

#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/slice_counts.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Number of nonzeros in the slices of one mode, over all processes. Empty slices are ignored; the others
// are numbered 0, 1, ... ("rows"). Each process stores a range of them, so that no process needs memory
// for the whole mode. Queries are collective, with the same arguments, and take many values at once.
class SliceProfile {
 public:
  // Counts the slices of a mode in the shares of all processes. Collective.
  SliceProfile(const Comm& comm, const SparseTensor<double>& share, int mode);

  Index extent() const { return extent_; }
  Index num_rows() const { return num_rows_; }
  Index num_nonzeros() const { return num_nonzeros_; }
  // The slices in the range of this process, and their counts.
  const SliceCounts& mine() const { return mine_; }

  // Number of nonzeros in all rows before each of `rows`, which are in [0, num_rows()]. Collective.
  std::vector<Index> nonzeros_before(std::span<const Index> rows) const;
  // For each count, ascending: the first row with this number of nonzeros before it, if each row counts as
  // `row_weight` nonzeros more than it has; a count inside a row is rounded to its nearer end; at most
  // num_rows(). Collective.
  std::vector<Index> rows_at(std::span<const Index> counts, Index row_weight = 0) const;
  // The slice of each row; for num_rows(), the extent. Collective.
  std::vector<Index> slices_of(std::span<const Index> rows) const;

 private:
  // Calls answer(question) on the process that knows the answer, and sums over the processes.
  template <class Knows, class Answer>
  std::vector<Index> ask(std::span<const Index> questions, Knows knows, Answer answer) const;

  Comm comm_;
  Index extent_ = 0, num_rows_ = 0, num_nonzeros_ = 0;
  SliceCounts mine_;
  std::vector<Index> before_;  // [row of this process]: nonzeros before it, in all rows; and one more
  Index first_row_ = 0;
};

// Counts the slices of one mode over all processes; each
// process gets those in its range of indices. Collective.
SliceCounts count_slices_of_all(const Comm& comm, const SparseTensor<double>& share, int mode);

}  // namespace polyad
