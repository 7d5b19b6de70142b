#pragma once

#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/distributed/ratings/rotation.hpp"
#include "polyad/distributed/row_exchange.hpp"
#include "polyad/tensor/ratings/rating_rows.hpp"

namespace polyad {

// Which rows a process sends to and receives from which other processes:
// local rows, ordered by peer, in an order that both sides know.
struct RowMessages {
  struct Peer {
    int rank;
    Index begin, end;  // in the lists of rows below

    Index num_rows() const { return end - begin; }
  };
  std::vector<Peer> to, from;  // ordered by rank
  Array<LocalIndex> sent, received;
};

// The parts of a row that are communicated.
struct TravellingWords {
  Index num_factors = 1;
  bool biases = true, squares = false;

  Index per_row() const { return num_factors + (biases ? 1 : 0) + (squares ? 1 : 0); }
};

// Sends rows of a table according to `messages`. All processes must call it in the
// same order; pairs of processes without rows for each other do not communicate.
template <class Real>
class RowSender {
 public:
  RowSender(Comm comm, TravellingWords words) : comm_(std::move(comm)), words_(words) {}

  // Passes received rows to take(local row, words), ordered by the rank of the sender.
  template <class Take>
  void exchange(const RowMessages& messages, const RatingRows<Real>& rows, Take take) {
    send(messages, rows);
    const Index n = words_.per_row();
    for (std::size_t i = 0; i < messages.received.size(); ++i)
      take(Index(messages.received[i]), received_.data() + Index(i) * n);
  }
  // Received rows overwrite those of the table.
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

// Communication of a process at the end of a sub-epoch.
struct RotationStep {
  // A row that it owns in this sub-epoch, and the number of copies that are averaged.
  struct Averaged {
    LocalIndex row;
    Index num_copies;
  };
  RowMessages reduce, expand;
  std::vector<Averaged> averaged = {};
};
// [sub-epoch]. local_rows: [column]: its row on this process; used only for columns with a share here.
std::vector<RotationStep> rotation_steps(const Rotation& rotation, int rank,
                                         std::span<const LocalIndex> local_rows);

// Sends the rows of columns at the end of an epoch to processes that need them:
// `wanted` are columns, ascending. Columns without ratings are not sent. Collective.
RowMessages plan_visits(const Comm& comm, const Rotation& rotation, std::span<const Index> wanted,
                        std::span<const LocalIndex> local_rows);

// The part that has the row of a column at the end of an epoch; -1: none.
int last_owner(const Rotation& rotation, Index column);

// At the end of a sub-epoch: rows are sent to their owners, averaged
// there, and sent to the processes that need them next. Collective.
template <class Real>
void synchronise(const RotationStep& step, RowSender<Real>& sender, RatingRows<Real>& items);

}  // namespace polyad
