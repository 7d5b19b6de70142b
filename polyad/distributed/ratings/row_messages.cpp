#include "polyad/distributed/ratings/row_messages.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "polyad/base/timings.hpp"

namespace polyad {
namespace {

// Rows, by the rank that they go to or come from.
using RowsByRank = std::map<int, std::vector<LocalIndex>>;

void lay_out(const RowsByRank& by_rank, std::vector<RowMessages::Peer>& peers, Array<LocalIndex>& rows) {
  for (const auto& [rank, of_rank] : by_rank) {
    const Index begin = std::ssize(rows);
    rows.insert(rows.end(), of_rank.begin(), of_rank.end());
    peers.push_back({rank, begin, std::ssize(rows)});
  }
}

RowMessages messages_of(const RowsByRank& to, const RowsByRank& from) {
  RowMessages messages;
  lay_out(to, messages.to, messages.sent);
  lay_out(from, messages.from, messages.received);
  return messages;
}

// What one process sends and receives.
struct Ways {
  RowsByRank to, from;

  void add(int from_part, int to_part, int rank, LocalIndex row) {
    if (from_part == rank) to[to_part].push_back(row);
    if (to_part == rank) from[from_part].push_back(row);
  }
};

// Those that copies come of: own ones and as many as come.
std::vector<RotationStep::Averaged> averaged_rows(const RowMessages& reduce) {
  auto rows = reduce.received;
  std::ranges::sort(rows);
  std::vector<RotationStep::Averaged> averaged;
  for (const LocalIndex row : rows)
    if (!averaged.empty() && averaged.back().row == row)
      ++averaged.back().num_copies;
    else
      averaged.push_back({row, 2});
  return averaged;
}

}  // namespace

template <class Real>
void RowSender<Real>::pack(const RatingRows<Real>& rows, Index row, Real* to) const {
  to = std::copy_n(rows.factors.row(row).begin(), words_.num_factors, to);
  if (words_.biases) *to++ = rows.biases[row];
  if (words_.squares) *to = rows.squares[row];
}

template <class Real>
void RowSender<Real>::unpack(const Real* from, RatingRows<Real>& rows, Index row) const {
  std::copy_n(from, words_.num_factors, rows.factors.row(row).begin());
  from += words_.num_factors;
  if (words_.biases) rows.biases[row] = *from++;
  if (words_.squares) rows.squares[row] = *from;
}

template <class Real>
void RowSender<Real>::send(const RowMessages& messages, const RatingRows<Real>& rows) {
  const Index n = words_.per_row();
  sent_.resize(std::max(sent_.size(), messages.sent.size() * std::size_t(n)));
  received_.resize(std::max(received_.size(), messages.received.size() * std::size_t(n)));
  requests_.clear();
  for (const auto& peer : messages.from)
    requests_.push_back(comm_.irecv(
        std::span(received_.data() + peer.begin * n, std::size_t(peer.num_rows() * n)), peer.rank));
  for (const auto& peer : messages.to) {
    for (Index i = peer.begin; i < peer.end; ++i) pack(rows, messages.sent[i], sent_.data() + i * n);
    const std::span<const Real> words(sent_.data() + peer.begin * n, std::size_t(peer.num_rows() * n));
    requests_.push_back(comm_.isend(words, peer.rank));
    traffic_ += {std::ssize(words), 1, 0};
  }
  const Stopwatch watch;
  wait_all(requests_);
  waiting_seconds_ += watch.seconds();
}

template <class Real>
void RowSender<Real>::overwrite(const RowMessages& messages, RatingRows<Real>& rows) {
  exchange(messages, rows, [&](Index row, const Real* words) { unpack(words, rows, row); });
}

std::vector<RotationStep> rotation_steps(const Rotation& rotation, int rank,
                                         std::span<const LocalIndex> local_rows) {
  std::vector<Ways> reduce(std::size_t(rotation.num_sub_epochs)), expand(reduce.size());
  const auto add_to = [&](std::vector<Ways>& ways) {
    return [&](const RowMove& move) {
      ways[std::size_t(move.sub_epoch)].add(rotation.columns.parts[move.from],
                                            rotation.columns.parts[move.to], rank,
                                            local_rows[std::size_t(move.column)]);
    };
  };
  for_each_move(rotation, add_to(reduce), add_to(expand));
  std::vector<RotationStep> steps;
  for (std::size_t t = 0; t < reduce.size(); ++t) {
    steps.push_back({messages_of(reduce[t].to, reduce[t].from), messages_of(expand[t].to, expand[t].from)});
    steps.back().averaged = averaged_rows(steps.back().reduce);
  }
  return steps;
}

int last_owner(const Rotation& rotation, Index column) {
  int owner = -1, last = -1;
  for (Index s = rotation.columns.begin[column]; s < rotation.columns.begin[column + 1]; ++s)
    if (rotation.owned[s] != 0 && rotation.sub_epoch[s] > last) {
      last = rotation.sub_epoch[s];
      owner = rotation.columns.parts[s];
    }
  return owner;
}

RowMessages plan_visits(const Comm& comm, const Rotation& rotation, std::span<const Index> wanted,
                        std::span<const LocalIndex> local_rows) {
  RowsByRank from;
  std::vector<std::vector<Index>> asked(std::size_t(comm.size()));
  for (const Index column : wanted) {
    const int owner = last_owner(rotation, column);
    if (owner < 0 || owner == comm.rank()) continue;
    from[owner].push_back(local_rows[std::size_t(column)]);
    asked[std::size_t(owner)].push_back(column);
  }
  std::vector<Index> counts, flat;
  for (const auto& of_owner : asked) {
    counts.push_back(std::ssize(of_owner));
    flat.insert(flat.end(), of_owner.begin(), of_owner.end());
  }
  const auto wanted_counts = comm.exchange_counts(counts);
  std::vector<Index> wanted_columns(
      std::size_t(std::accumulate(wanted_counts.begin(), wanted_counts.end(), Index(0))));
  comm.all_to_all<Index>(flat, counts, wanted_columns, wanted_counts);
  RowsByRank to;
  auto at = wanted_columns.begin();
  for (int rank = 0; rank < comm.size(); ++rank)
    for (Index i = 0; i < wanted_counts[std::size_t(rank)]; ++i, ++at)
      to[rank].push_back(local_rows[std::size_t(*at)]);
  return messages_of(to, from);
}

template <class Real>
void synchronise(const RotationStep& step, RowSender<Real>& sender, RatingRows<Real>& items) {
  const auto& words = sender.words();
  // Own values first, then those that come, by rank; so the same bits every time.
  sender.exchange(step.reduce, items, [&](Index row, const Real* from) {
    const auto factors = items.factors.row(row);
    for (Index c = 0; c < words.num_factors; ++c) factors[std::size_t(c)] += from[c];
    from += words.num_factors;
    if (words.biases) items.biases[row] += *from++;
    if (words.squares) items.squares[row] += *from;
  });
  for (const auto& [row, num_copies] : step.averaged) {
    const Real share = Real(1) / Real(num_copies);
    for (Real& factor : items.factors.row(row)) factor *= share;
    if (words.biases) items.biases[row] *= share;
    if (words.squares) items.squares[row] *= share;
  }
  sender.overwrite(step.expand, items);
}

template class RowSender<float>;
template class RowSender<double>;
template void synchronise(const RotationStep&, RowSender<float>&, RatingRows<float>&);
template void synchronise(const RotationStep&, RowSender<double>&, RatingRows<double>&);

}  // namespace polyad
