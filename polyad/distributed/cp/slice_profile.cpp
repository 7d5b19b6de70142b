#include "polyad/distributed/cp/slice_profile.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>

#include "polyad/tensor/sort.hpp"

namespace polyad {

SliceCounts count_slices_of_all(const Comm& comm, const SparseTensor<double>& share, int mode) {
  SliceCounts mine = count_slices(share.indices(mode), share.extent(mode));
  if (comm.size() == 1) return mine;
  std::vector<Index> send_counts(std::size_t(comm.size()), 0);
  for (const Index slice : mine.slices)
    ++send_counts[static_cast<__int128>(slice) * comm.size() / share.extent(mode)];
  const auto recv_counts = comm.exchange_counts(send_counts);
  const Index arriving = std::accumulate(recv_counts.begin(), recv_counts.end(), Index(0));
  // A pair (slice, count) is a nonzero of a matrix with one column; equal slices are duplicates.
  SparseTensor<double> counted({share.extent(mode), 1});
  counted.resize(arriving);
  comm.all_to_all<Index>(mine.slices, send_counts, counted.indices(0), recv_counts);
  Array<Index> counts(std::size_t(arriving), 0);
  comm.all_to_all<Index>(mine.counts, send_counts, counts, recv_counts);
  std::ranges::fill(counted.indices(1), Index(0));
  std::ranges::copy(counts, counted.values().begin());
  sort_nonzeros(counted, natural_mode_order(2));
  merge_duplicates(counted);
  SliceCounts merged;
  merged.slices.assign(counted.indices(0).begin(), counted.indices(0).end());
  merged.counts.assign(counted.values().begin(), counted.values().end());
  return merged;
}

SliceProfile::SliceProfile(const Comm& comm, const SparseTensor<double>& share, int mode)
    : comm_(comm), extent_(share.extent(mode)), mine_(count_slices_of_all(comm, share, mode)) {
  struct Size {
    Index rows, nonzeros;
  };
  const Index nonzeros = std::accumulate(mine_.counts.begin(), mine_.counts.end(), Index(0));
  Index nonzeros_before_mine = 0;
  const auto sizes = comm.all_gather(Size{std::ssize(mine_.slices), nonzeros});
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank()) first_row_ = num_rows_, nonzeros_before_mine = num_nonzeros_;
    num_rows_ += sizes[rank].rows;
    num_nonzeros_ += sizes[rank].nonzeros;
  }
  before_.push_back(nonzeros_before_mine);
  for (const Index count : mine_.counts) before_.push_back(before_.back() + count);
}

template <class Knows, class Answer>
std::vector<Index> SliceProfile::ask(std::span<const Index> questions, Knows knows, Answer answer) const {
  std::vector<Index> answers;
  for (const Index question : questions) answers.push_back(knows(question) ? answer(question) : 0);
  comm_.all_reduce(std::span(answers));
  return answers;
}

std::vector<Index> SliceProfile::nonzeros_before(std::span<const Index> rows) const {
  const Index end = first_row_ + std::ssize(mine_.slices);
  const bool is_last = comm_.rank() == comm_.size() - 1;
  return ask(
      rows, [&](Index row) { return row == num_rows_ ? is_last : row >= first_row_ && row < end; },
      [&](Index row) { return row == num_rows_ ? num_nonzeros_ : before_[row - first_row_]; });
}

std::vector<Index> SliceProfile::rows_at(std::span<const Index> counts, Index row_weight) const {
  const Index total = num_nonzeros_ + row_weight * num_rows_, end = std::ssize(before_);
  const auto before = [&](Index i) { return before_[i] + row_weight * (first_row_ + i); };
  // A count that falls on [before(0), before(end - 1)) is this process's; what is beyond all, the last's.
  const bool is_last = comm_.rank() == comm_.size() - 1;
  return ask(
      counts,
      [&](Index count) { return count >= total ? is_last : count >= before(0) && count < before(end - 1); },
      [&](Index count) {
        if (count >= total) return num_rows_;
        const auto rows = std::views::iota(Index(0), end);
        const Index after = *std::ranges::upper_bound(rows, count, {}, before);
        const bool nearer_to_begin = count - before(after - 1) <= before(after) - count;
        return first_row_ + after - (nearer_to_begin ? 1 : 0);
      });
}

std::vector<Index> SliceProfile::slices_of(std::span<const Index> rows) const {
  const Index end = first_row_ + std::ssize(mine_.slices);
  const bool is_last = comm_.rank() == comm_.size() - 1;
  return ask(
      rows, [&](Index row) { return row == num_rows_ ? is_last : row >= first_row_ && row < end; },
      [&](Index row) { return row == num_rows_ ? extent_ : mine_.slices[row - first_row_]; });
}

}  // namespace polyad
