#pragma once

#include <numeric>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/dense/local_block.hpp"

namespace polyad::dense {

// Sends outgoing[q] of the array `from` to every process q, and puts what q sends into incoming[q] of the
// array `to`. Blocks that two processes exchange have the same extents on both. What stays on a process is
// not packed. Collective.
template <class Real>
void exchange_blocks(const Comm& comm, const std::vector<LocalBlock>& outgoing, const Real* from,
                     const std::vector<LocalBlock>& incoming, Real* to) {
  const auto self = std::size_t(comm.rank());
  const auto counts_of = [self](const std::vector<LocalBlock>& blocks) {
    std::vector<Index> counts;
    for (const auto& block : blocks) counts.push_back(block.size());
    counts[self] = 0;
    return counts;
  };
  const auto sum = [](const std::vector<Index>& counts) {
    return std::size_t(std::accumulate(counts.begin(), counts.end(), Index(0)));
  };
  const auto send_counts = counts_of(outgoing), receive_counts = counts_of(incoming);
  copy(outgoing[self], from, incoming[self], to);
  Array<Real> sent(sum(send_counts)), received(sum(receive_counts));
  Real* packed = sent.data();
  for (std::size_t q = 0; q < outgoing.size(); packed += send_counts[q++])
    if (q != self) copy(outgoing[q], from, packed_block(outgoing[q]), packed);
  comm.all_to_all<Real>(sent, send_counts, received, receive_counts);
  const Real* arrived = received.data();
  for (std::size_t q = 0; q < incoming.size(); arrived += receive_counts[q++])
    if (q != self) copy(packed_block(incoming[q]), arrived, incoming[q], to);
}

}  // namespace polyad::dense
