#pragma once

#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/distributed/ratings/rotation.hpp"
#include "polyad/distributed/row_exchange.hpp"
#include "polyad/tensor/ratings/rating_rows.hpp"

namespace polyad {

// Which rows a process sends to whom, and which come to it: local rows, peer after peer, in an order that
// both sides know.
struct RowMessages {
  struct Peer {
    int rank;
    Index begin, end;  // in the rows below

    Index num_rows() const { return end - begin; }
  };
  std::vector<Peer> to, from;  // by rank
  Array<LocalIndex> sent, received;
};

// What of a row travels.
struct TravellingWords {
  Index num_factors = 1;
  bool biases = true, squares = false;

  Index per_row() const { return num_factors + (biases ? 1 : 0) + (squares ? 1 : 0); }
};

// Sends rows of a table as `messages` say. The processes must call it in the same order; a pair of processes
// that have nothing for each other are not bothered.
template <class Real>
class RowSender {
 public:
  RowSender(Comm comm, TravellingWords words) : comm_(std::move(comm)), words_(words) {}

  // Rows that come are handed to take(local row, words), by rank of the sender.
  template <class Take>
  void exchange(const RowMessages& messages, const RatingRows<Real>& rows, Take take) {
    send(messages, rows);
    const Index n = words_.per_row();
    for (std::size_t i = 0; i < messages.received.size(); ++i)
      take(Index(messages.received[i]), received_.data() + Index(i) * n);
  }
  // They overwrite those of the table.
  void overwrite(const RowMessages& messages, RatingRows<Real>& rows);

  const Traffic& sent() const { return traffic_; }
  double waiting_seconds() const { return waiting_seconds_; }
  const TravellingWords& words() const { return words_; }

  void pack(const RatingRows<Real>& rows, Index row, Real* to) const;
  void unpack(const Real* from, RatingRows<Real>& rows, Index row) const;

 private:
  void send(const RowMessages& messages, const RatingRows<Real>& rows);

  Comm comm_;
  TravellingWords words_;
  Array<Real> sent_, received_;
  std::vector<Request> requests_;
  Traffic traffic_;
  double waiting_seconds_ = 0;
};

// What a process exchanges at the end of a sub-epoch.
struct RotationStep {
  // A row that it owns then, and of how many copies the row becomes the mean.
  struct Averaged {
    LocalIndex row;
    Index num_copies;
  };
  RowMessages reduce, expand;
  std::vector<Averaged> averaged = {};
};
// [sub-epoch]. local_rows: [column]: its row at this process; only those of its own shares are looked at.
std::vector<RotationStep> rotation_steps(const Rotation& rotation, int rank,
                                         std::span<const LocalIndex> local_rows);

// Brings the rows of columns at the end of an epoch to processes that want to look at them: `wanted` are
// columns, ascending. Columns without ratings do not travel. Collective.
RowMessages plan_visits(const Comm& comm, const Rotation& rotation, std::span<const Index> wanted,
                        std::span<const LocalIndex> local_rows);

// The part that has a column's row at the end of an epoch; -1: none.
int last_owner(const Rotation& rotation, Index column);

// At the end of a sub-epoch: rows go to their owners, are averaged there, and go to whom they are needed
// next. Collective.
template <class Real>
void synchronise(const RotationStep& step, RowSender<Real>& sender, RatingRows<Real>& items);

}  // namespace polyad
