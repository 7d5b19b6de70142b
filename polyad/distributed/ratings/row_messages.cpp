#include "polyad/distributed/ratings/row_messages.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "polyad/base/timings.hpp"

namespace polyad {
namespace {

// Rows, by the part that they go to or come from.
using RowsByPart = std::map<int, std::vector<LocalIndex>>;

void lay_out(const RowsByPart& by_part, std::vector<RowMessages::Peer>& peers, Array<LocalIndex>& rows) {
  for (const auto& [part, of_part] : by_part) {
    const Index begin = std::ssize(rows);
    rows.insert(rows.end(), of_part.begin(), of_part.end());
    peers.push_back({part, begin, std::ssize(rows)});
  }
}

// What one part sends and receives.
struct Ways {
  RowsByPart to, from;

  RowMessages messages() const {
    RowMessages messages;
    lay_out(to, messages.to, messages.sent);
    lay_out(from, messages.from, messages.received);
    return messages;
  }
};

// What the parts of a process send and receive in each sub-epoch.
class WaysOfParts {
 public:
  WaysOfParts(int first_part, int num_parts, int num_sub_epochs)
      : first_(first_part),
        num_parts_(num_parts),
        ways_(std::size_t(num_parts) * std::size_t(num_sub_epochs)) {}

  const Ways& of(int sub_epoch, int part_here) const {
    return ways_[std::size_t(sub_epoch) * std::size_t(num_parts_) + std::size_t(part_here)];
  }
  // Of the part, if it is here.
  Ways* find(int sub_epoch, int part) {
    if (part < first_ || part >= first_ + num_parts_) return nullptr;
    return &ways_[std::size_t(sub_epoch) * std::size_t(num_parts_) + std::size_t(part - first_)];
  }

 private:
  int first_, num_parts_;
  std::vector<Ways> ways_;  // [sub-epoch][part]
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
RowSender<Real>::RowSender(Comm comm, const PartPlaces& places, const TravellingWords& words)
    : comm_(std::move(comm)),
      places_(places),
      first_part_(places.first(comm_.rank())),
      end_part_(places.first(comm_.rank() + 1)),
      words_(words),
      sent_(std::size_t(end_part_ - first_part_)),
      received_(sent_.size()) {}

template <class Real>
void RowSender<Real>::send(std::span<const RowMessages* const> messages,
                           std::span<const RatingRows<Real>> rows) {
  const Index n = words_.per_row();
  for_each_part(std::ssize(rows), [&](Index part) {
    const auto& own = *messages[std::size_t(part)];
    auto& to = sent_[std::size_t(part)];
    auto& from = received_[std::size_t(part)];
    to.resize(std::max(to.size(), own.sent.size() * std::size_t(n)));
    from.resize(std::max(from.size(), own.received.size() * std::size_t(n)));
    for (std::size_t i = 0; i < own.sent.size(); ++i)
      pack(rows[std::size_t(part)], own.sent[i], to.data() + Index(i) * n);
  });
  requests_.clear();
  post_receives(messages);
  post_sends(messages);
  copy_from_neighbours(messages);
  const Stopwatch watch;
  wait_all(requests_);
  waiting_seconds_ += watch.seconds();
}

// Between two processes, messages are sent and received in the order of (from, to).
template <class Real>
void RowSender<Real>::post_receives(std::span<const RowMessages* const> messages) {
  const Index n = words_.per_row();
  std::vector<Arrival> arrivals;
  for (std::size_t part = 0; part < messages.size(); ++part)
    for (const auto& peer : messages[part]->from)
      if (!is_here(peer.part))
        arrivals.push_back({peer.part,
                            first_part_ + int(part),
                            {received_[part].data() + peer.begin * n, std::size_t(peer.num_rows() * n)}});
  std::ranges::sort(arrivals, {}, [](const Arrival& a) { return std::pair(a.from, a.to); });
  for (const auto& arrival : arrivals)
    requests_.push_back(comm_.irecv(arrival.words, places_.process_of(arrival.from)));
}

template <class Real>
void RowSender<Real>::post_sends(std::span<const RowMessages* const> messages) {
  const Index n = words_.per_row();
  for (std::size_t part = 0; part < messages.size(); ++part)
    for (const auto& peer : messages[part]->to) {
      const std::span<const Real> words(sent_[part].data() + peer.begin * n,
                                        std::size_t(peer.num_rows() * n));
      if (!is_here(peer.part)) requests_.push_back(comm_.isend(words, places_.process_of(peer.part)));
      traffic_ += {std::ssize(words), 1, 0};
    }
}

template <class Real>
void RowSender<Real>::copy_from_neighbours(std::span<const RowMessages* const> messages) {
  const Index n = words_.per_row();
  for_each_part(std::ssize(messages), [&](Index part) {
    for (const auto& peer : messages[std::size_t(part)]->from) {
      if (!is_here(peer.part)) continue;
      const auto sender = std::size_t(peer.part - first_part_);
      const auto& theirs = messages[sender]->to;
      const auto way =
          std::ranges::lower_bound(theirs, first_part_ + int(part), {}, &RowMessages::Peer::part);
      std::copy_n(sent_[sender].data() + way->begin * n, peer.num_rows() * n,
                  received_[std::size_t(part)].data() + peer.begin * n);
    }
  });
}

std::vector<std::vector<RotationStep>> rotation_steps(const Rotation& rotation, int first_part, int num_parts,
                                                      std::span<const LocalIndex> share_rows) {
  WaysOfParts reduce(first_part, num_parts, rotation.num_sub_epochs),
      expand(first_part, num_parts, rotation.num_sub_epochs);
  const auto add_to = [&](WaysOfParts& ways) {
    return [&](const RowMove& move) {
      const int from = rotation.columns.parts[move.from], to = rotation.columns.parts[move.to];
      if (auto* sender = ways.find(move.sub_epoch, from))
        sender->to[to].push_back(share_rows[std::size_t(move.from)]);
      if (auto* receiver = ways.find(move.sub_epoch, to))
        receiver->from[from].push_back(share_rows[std::size_t(move.to)]);
    };
  };
  for_each_move(rotation, add_to(reduce), add_to(expand));
  std::vector<std::vector<RotationStep>> steps(std::size_t(rotation.num_sub_epochs));
  for (int t = 0; t < rotation.num_sub_epochs; ++t)
    for (int part = 0; part < num_parts; ++part) {
      auto& step = steps[std::size_t(t)].emplace_back();
      step.reduce = reduce.of(t, part).messages();
      step.expand = expand.of(t, part).messages();
      step.averaged = averaged_rows(step.reduce);
    }
  return steps;
}

Index last_owner(const Rotation& rotation, Index column) {
  Index owner = -1;
  int last = -1;
  for (Index s = rotation.columns.begin[column]; s < rotation.columns.begin[column + 1]; ++s)
    if (rotation.owned[s] != 0 && rotation.sub_epoch[s] > last) {
      last = rotation.sub_epoch[s];
      owner = s;
    }
  return owner;
}

std::vector<RowMessages> plan_visits(const Comm& comm, const PartPlaces& places, const Rotation& rotation,
                                     std::span<const std::vector<WantedColumn>> wanted,
                                     std::span<const LocalIndex> share_rows) {
  struct Visit {
    Index share;
    int by;  // the part that wants it
  };
  const int first = places.first(comm.rank());
  std::vector<Ways> ways(wanted.size());
  std::vector<std::vector<Visit>> asked(std::size_t(comm.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (const auto& [column, row] : wanted[i]) {
      const Index share = last_owner(rotation, column);
      if (share < 0 || rotation.columns.parts[share] == first + int(i)) continue;
      const int owner = rotation.columns.parts[share];
      ways[i].from[owner].push_back(row);
      asked[std::size_t(places.process_of(owner))].push_back({share, first + int(i)});
    }
  std::vector<Index> counts;
  std::vector<Visit> flat;
  for (const auto& of_process : asked) {
    counts.push_back(std::ssize(of_process));
    flat.insert(flat.end(), of_process.begin(), of_process.end());
  }
  const auto asked_counts = comm.exchange_counts(counts);
  std::vector<Visit> visited(
      std::size_t(std::accumulate(asked_counts.begin(), asked_counts.end(), Index(0))));
  comm.all_to_all<Visit>(flat, counts, visited, asked_counts);
  for (const auto& [share, by] : visited)
    ways[std::size_t(rotation.columns.parts[share] - first)].to[by].push_back(share_rows[std::size_t(share)]);
  std::vector<RowMessages> messages;
  for (const auto& of_part : ways) messages.push_back(of_part.messages());
  return messages;
}

template <class Real>
void synchronise(std::span<const RotationStep> step, RowSender<Real>& sender,
                 std::span<RatingRows<Real>> items) {
  const auto& words = sender.words();
  const auto add = [&](Index part, Index row, const Real* from) {
    auto& rows = items[std::size_t(part)];
    const auto factors = rows.factors.row(row);
    for (Index c = 0; c < words.num_factors; ++c) factors[std::size_t(c)] += from[c];
    from += words.num_factors;
    if (words.biases) rows.biases[row] += *from++;
    if (words.squares) rows.squares[row] += *from;
  };
  // Own values first, then those that come, by part; so the same bits every time.
  sender.exchange([&](Index part) -> const auto& { return step[std::size_t(part)].reduce; }, items, add);
  for_each_part(std::ssize(step), [&](Index part) {
    auto& rows = items[std::size_t(part)];
    for (const auto& [row, num_copies] : step[std::size_t(part)].averaged) {
      const Real share = Real(1) / Real(num_copies);
      for (Real& factor : rows.factors.row(row)) factor *= share;
      if (words.biases) rows.biases[row] *= share;
      if (words.squares) rows.squares[row] *= share;
    }
  });
  sender.overwrite([&](Index part) -> const auto& { return step[std::size_t(part)].expand; }, items);
}

template class RowSender<float>;
template class RowSender<double>;
template void synchronise(std::span<const RotationStep>, RowSender<float>&, std::span<RatingRows<float>>);
template void synchronise(std::span<const RotationStep>, RowSender<double>&, std::span<RatingRows<double>>);

}  // namespace polyad
