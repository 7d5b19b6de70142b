#pragma once

#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/slice_counts.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// How the nonzeros of all processes spread over the slices of one mode. Empty slices do not count: the
// others are numbered 0, 1, ... ("rows"). Each process keeps a range of them, so that nobody needs memory
// for the whole mode; questions are asked by all, with the same arguments, and many at a time.
class SliceProfile {
 public:
  // Counts a mode of the shares of all processes. Collective.
  SliceProfile(const Comm& comm, const SparseTensor<double>& share, int mode);

  Index extent() const { return extent_; }
  Index num_rows() const { return num_rows_; }
  Index num_nonzeros() const { return num_nonzeros_; }
  // The slices of this process's range, and their counts.
  const SliceCounts& mine() const { return mine_; }

  // The nonzeros in all rows before each of these; rows in [0, num_rows()]. Collective.
  std::vector<Index> nonzeros_before(std::span<const Index> rows) const;
  // For each count, ascending: the first row with so many nonzeros before it, if a row in the middle of
  // which it falls is rounded to the nearer end; at most num_rows(). Collective.
  std::vector<Index> rows_at(std::span<const Index> counts) const;
  // The slice of each row; of num_rows(), the extent. Collective.
  std::vector<Index> slices_of(std::span<const Index> rows) const;

 private:
  // Calls answer(question) where it is this process that knows, and adds up over the processes.
  template <class Knows, class Answer>
  std::vector<Index> ask(std::span<const Index> questions, Knows knows, Answer answer) const;

  Comm comm_;
  Index extent_ = 0, num_rows_ = 0, num_nonzeros_ = 0;
  SliceCounts mine_;
  std::vector<Index> before_;  // [my row]: nonzeros before it, of all rows; and one more
  Index first_row_ = 0;
};

// The slices of one mode, counted over all processes; each process gets those of its range of the indices.
// Collective.
SliceCounts count_slices_of_all(const Comm& comm, const SparseTensor<double>& share, int mode);

}  // namespace polyad
