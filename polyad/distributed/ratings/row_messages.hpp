#pragma once

#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/distributed/ratings/part_places.hpp"
#include "polyad/distributed/ratings/rotation.hpp"
#include "polyad/distributed/row_exchange.hpp"
#include "polyad/tensor/ratings/rating_rows.hpp"

namespace polyad {

// Which rows a part sends to and receives from which other parts: its local rows,
// ordered by the other part, in an order that both sides know.
struct RowMessages {
  struct Peer {
    int part;
    Index begin, end;  // in the lists of rows below

    Index num_rows() const { return end - begin; }
  };
  std::vector<Peer> to, from;  // ordered by part
  Array<LocalIndex> sent, received;
};

// The parts of a row that are communicated.
struct TravellingWords {
  Index num_factors = 1;
  bool biases = true, squares = false;

  Index per_row() const { return num_factors + (biases ? 1 : 0) + (squares ? 1 : 0); }
};

// Sends rows between parts, of one process or of several. All processes must call it in the same order;
// pairs of parts without rows for each other do not communicate. What is passed has an element for each
// part of this process, in order.
template <class Real>
class RowSender {
 public:
  RowSender(Comm comm, const PartPlaces& places, const TravellingWords& words);

  // Sends rows according to messages_of(part of this process). Passes received rows to take(part of this
  // process, local row, words), for each part ordered by the sender; of several parts at once.
  template <class MessagesOf, class Take>
  void exchange(MessagesOf messages_of, std::span<const RatingRows<Real>> rows, Take take) {
    std::vector<const RowMessages*> messages;
    for (Index part = 0; part < std::ssize(rows); ++part) messages.push_back(&messages_of(part));
    send(messages, rows);
    const Index n = words_.per_row();
    for_each_part(std::ssize(rows), [&](Index part) {
      const auto& received = messages[std::size_t(part)]->received;
      const Real* from = received_[std::size_t(part)].data();
      for (std::size_t i = 0; i < received.size(); ++i) take(part, Index(received[i]), from + Index(i) * n);
    });
  }
  // Received rows overwrite those of the tables.
  template <class MessagesOf>
  void overwrite(MessagesOf messages_of, std::span<RatingRows<Real>> rows) {
    exchange(messages_of, rows,
             [&](Index part, Index row, const Real* words) { unpack(words, rows[std::size_t(part)], row); });
  }

  // By parts of this process, also to each other.
  const Traffic& sent() const { return traffic_; }
  double waiting_seconds() const { return waiting_seconds_; }
  const TravellingWords& words() const { return words_; }

  void pack(const RatingRows<Real>& rows, Index row, Real* to) const;
  void unpack(const Real* from, RatingRows<Real>& rows, Index row) const;

 private:
  // A message from a part of another process.
  struct Arrival {
    int from, to;  // parts
    std::span<Real> words;
  };

  void send(std::span<const RowMessages* const> messages, std::span<const RatingRows<Real>> rows);
  void post_receives(std::span<const RowMessages* const> messages);
  void post_sends(std::span<const RowMessages* const> messages);
  void copy_from_neighbours(std::span<const RowMessages* const> messages);
  bool is_here(int part) const { return part >= first_part_ && part < end_part_; }

  Comm comm_;
  PartPlaces places_;
  int first_part_, end_part_;  // of this process
  TravellingWords words_;
  std::vector<Array<Real>> sent_, received_;  // [part of this process]
  std::vector<Request> requests_;
  Traffic traffic_;
  double waiting_seconds_ = 0;
};

// Communication of a part at the end of a sub-epoch.
struct RotationStep {
  // A row that it owns in this sub-epoch, and the number of copies that are averaged.
  struct Averaged {
    LocalIndex row;
    Index num_copies;
  };
  RowMessages reduce, expand;
  std::vector<Averaged> averaged = {};
};
// [sub-epoch][part of the process], of consecutive parts. share_rows: [share]: the row of its column in its
// part; used only for shares of these parts.
std::vector<std::vector<RotationStep>> rotation_steps(const Rotation& rotation, int first_part, int num_parts,
                                                      std::span<const LocalIndex> share_rows);

// A column that a part needs, and its row there.
struct WantedColumn {
  Index column;
  LocalIndex row;
};
// Sends the rows of columns at the end of an epoch to parts that need them. wanted: [part of this process]:
// in any order. Columns without ratings are not sent. Returns the messages of each part of this
// process. Collective.
std::vector<RowMessages> plan_visits(const Comm& comm, const PartPlaces& places, const Rotation& rotation,
                                     std::span<const std::vector<WantedColumn>> wanted,
                                     std::span<const LocalIndex> share_rows);

// The share that has the row of a column at the end of an epoch; -1: none.
Index last_owner(const Rotation& rotation, Index column);

// At the end of a sub-epoch: rows are sent to their owners, averaged there, and sent to the parts that need
// them next. Step and items: [part of this process]. Collective.
template <class Real>
void synchronise(std::span<const RotationStep> step, RowSender<Real>& sender,
                 std::span<RatingRows<Real>> items);

}  // namespace polyad
