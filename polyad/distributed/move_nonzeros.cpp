#include "polyad/distributed/move_nonzeros.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace polyad {
namespace {

// Of a process, in one round: the more, the fewer rounds; the less, the smaller the buffers.
constexpr Index max_per_round = Index(1) << 17, min_per_round = Index(1) << 10;

Index sum_of_counts(const std::vector<Index>& counts) {
  return std::accumulate(counts.begin(), counts.end(), Index(0));
}

std::vector<Index> count_owners(std::span<const int> owners, int processes) {
  std::vector<Index> counts(std::size_t(processes), 0);
  for (const int owner : owners) ++counts[owner];
  return counts;
}

// Where the nonzeros of a round that come from each process go, in what has been received: behind what it
// sent before.
class Arrival {
 public:
  Arrival(const Comm& comm, std::span<const int> owners)
      : next_(comm.exchange_counts(count_owners(owners, comm.size()))), total_(sum_of_counts(next_)) {
    std::exclusive_scan(next_.begin(), next_.end(), next_.begin(), Index(0));
  }
  Index total() const { return total_; }

  template <class T>
  void place(std::span<const T> arrived, std::span<const Index> counts, std::span<T> into) const {
    auto from = arrived.begin();
    for (std::size_t p = 0; p < counts.size(); ++p) {
      std::copy_n(from, counts[p], into.begin() + next_[p]);
      from += counts[p];
    }
  }
  void advance(std::span<const Index> counts) {
    for (std::size_t p = 0; p < counts.size(); ++p) next_[p] += counts[p];
  }

 private:
  std::vector<Index> next_;
  Index total_;
};

// One round: some nonzeros in the order in which they are sent, and how many go where.
class Round {
 public:
  Round(const Comm& comm, std::span<const int> owners, Index begin)
      : comm_(comm), nonzeros_(owners.size()), send_counts_(count_owners(owners, comm.size())) {
    std::vector<Index> next(send_counts_.size(), 0);
    std::exclusive_scan(send_counts_.begin(), send_counts_.end(), next.begin(), Index(0));
    for (std::size_t i = 0; i < owners.size(); ++i) nonzeros_[next[owners[i]]++] = begin + Index(i);
    recv_counts_ = comm.exchange_counts(send_counts_);
  }
  const std::vector<Index>& recv_counts() const { return recv_counts_; }

  template <class T>
  void move(std::span<const T> from, const Arrival& arrival, std::span<T> into) const {
    std::vector<T> packed(nonzeros_.size()), arrived(std::size_t(sum_of_counts(recv_counts_)));
    for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = from[nonzeros_[i]];
    comm_.all_to_all<T>(packed, send_counts_, arrived, recv_counts_);
    arrival.place<T>(arrived, recv_counts_, into);
  }

 private:
  const Comm& comm_;
  std::vector<Index> nonzeros_, send_counts_, recv_counts_;
};

// How many each sends in a round. Where few receive from many, as one that gathers, these would get a round's
// worth from each of them: so all send less.
Index size_of_round(const Comm& comm, Index num_sent, Index num_received) {
  const Index max_sent = comm.all_reduce(num_sent, Reduce::max);
  const Index max_received = comm.all_reduce(num_received, Reduce::max);
  const double share = max_received > max_sent ? double(max_sent) / double(max_received) : 1;
  return std::max(min_per_round, Index(double(max_per_round) * share));
}

}  // namespace

SparseTensor<double> move_nonzeros(const Comm& comm, const SparseTensor<double>& share,
                                   std::span<const int> owners) {
  Arrival arrival(comm, owners);
  SparseTensor<double> arrived(share.extents());
  arrived.resize(arrival.total());
  const Index count = std::ssize(owners);
  const Index per_round = size_of_round(comm, count, arrival.total());
  const Index rounds = comm.all_reduce((count + per_round - 1) / per_round, Reduce::max);
  for (Index r = 0; r < rounds; ++r) {
    const Index begin = std::min(r * per_round, count), end = std::min(begin + per_round, count);
    const Round round(comm, owners.subspan(std::size_t(begin), std::size_t(end - begin)), begin);
    for (int m = 0; m < share.order(); ++m) round.move<Index>(share.indices(m), arrival, arrived.indices(m));
    round.move<double>(share.values(), arrival, arrived.values());
    arrival.advance(round.recv_counts());
  }
  return arrived;
}

Index bytes_while_moving(Index num_sent, Index num_received, int order) {
  const Index nonzero_bytes = order * Index(sizeof(Index)) + Index(sizeof(double));
  return num_sent * (nonzero_bytes + Index(sizeof(int))) + num_received * nonzero_bytes;
}

}  // namespace polyad
