#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/base/row_place.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/comm/shared_pages.hpp"
#include "polyad/distributed/cp/exchange_plan.hpp"

namespace polyad {

// What a process has sent: words and messages passed to MPI, and separately words in all-reduce operations.
struct Traffic {
  Index words = 0, messages = 0, reduced_words = 0;

  void operator+=(const Traffic& other) {
    words += other.words;
    messages += other.messages;
    reduced_words += other.reduced_words;
  }
  friend Traffic operator+(Traffic a, const Traffic& b) {
    a += b;
    return a;
  }
  friend Traffic operator-(const Traffic& a, const Traffic& b) {
    return {a.words - b.words, a.messages - b.messages, a.reduced_words - b.reduced_words};
  }
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// Communicates the rows of one mode according to its plan: partial rows of an MTTKRP to their owners (fold),
// and factor rows to the processes that borrow them (expand). Padding columns are not sent. The factor has a
// row per local row; the partial rows may be only those that are not complete. Both matrices must not move,
// because their messages are persistent. All processes must fold and expand a mode equally often, and
// replicated modes, which are summed together, in the same order; messages of other modes are told apart by
// tags. Rows that are elsewhere than in matrices, on a GPU, have a RowPlace, which must live as long.
//
// Between processes of one machine no rows are sent: the sender puts them into its shared pages and sends a
// note, the receiver reads them there with all its threads and sends a note back. Both count as one message
// of these rows.
template <class Real>
class RowExchange {
 public:
  struct Rows {
    Matrix<Real>&partial, &factor;
    Index num_components;                 // number of leading columns to send; the others are padding
    Index first_partial = 0;              // local row of the first partial row
    SharedArray<Real>* buffer = nullptr;  // of at least num_words_under_way() words; null: its own
    bool folds = true, expands = true;    // what it is used for; a matrix that is not may have any size
    Index first_word = 0;                 // of the buffer that this exchange uses
    RowPlace<Real>* place = nullptr;      // of the rows; null: the matrices
  };
  // Size of the buffer, in words. Exchanges that do not overlap in time may share one buffer.
  static Index num_words_under_way(const ExchangePlan& plan, Index num_components, SentRows sent);
  // `tag`, up to 8190, distinguishes the exchanges of different modes. The plan has no stages. Collective.
  RowExchange(const Comm& comm, const ExchangePlan& plan, Rows rows, int tag);
  RowExchange(const RowExchange&) = delete;
  RowExchange& operator=(const RowExchange&) = delete;
  RowExchange(RowExchange&&) noexcept = default;

  // Adds the partial rows of borrowers to those of the owners, in ascending order of rank: the same bits
  // on every run. Until it has finished, partial rows of borrowed rows must not be modified. Collective.
  void start_folding();
  void finish_folding();
  void fold() { start_folding(), finish_folding(); }
  // Overwrites borrowed rows of the factor, which must not be accessed until it has finished. Collective.
  void start_expanding();
  void finish_expanding();

  const Traffic& sent() const { return sent_; }
  // The part of the buffer that it uses.
  Index num_words() const { return std::ssize(lent_) + std::ssize(staged_); }

 private:
  // To one peer: the rows, or a note that they are there, which another answers when they were read.
  struct Outgoing {
    Index num_words;
    bool is_copied;  // before it is sent
    Channel message;
    std::optional<Channel> was_read = {};
  };
  struct Incoming {
    bool is_copied;  // after it was received
    Channel message;
    const Real* rows;  // in the pages of the peer, or where they are received
    std::optional<Channel> has_read = {};
  };
  void start(Outgoing& outgoing);
  static void finish(std::vector<Outgoing>& all);
  static void start(std::vector<Incoming>& all);
  static const Real* wait_for(Incoming& incoming);  // its rows
  static void release(Incoming& incoming);          // they were read

  void connect_folds(SharedArray<Real>& buffer, int tag);
  void connect_expands(SharedArray<Real>& buffer, int tag);
  Outgoing send_to(int rank, std::span<const Real> words, bool is_copied, bool is_near, int tag);
  Incoming receive_from(int rank, std::span<Real> words, bool is_copied, const Real* near_words, int tag);
  std::span<std::byte> next_note();
  std::span<Real> staged_rows(const ExchangePlan::Peer& peer);
  std::span<Real> lent_rows(const ExchangePlan::Peer& peer);
  void reduce();
  // Copies the rows of all messages, unless these hold them in place, and starts the messages.
  template <class Copy>
  void send(std::vector<Outgoing>& all, const std::vector<ExchangePlan::Peer>& peers, Copy copy);
  // Waits for all messages, in order, and reads their rows.
  template <class Read>
  void receive(std::vector<Incoming>& all, const std::vector<ExchangePlan::Peer>& peers, Read read);

  Comm comm_;
  const ExchangePlan* plan_;
  std::unique_ptr<RowPlace<Real>> own_place_;
  RowPlace<Real>* rows_;
  SentRows sends_;
  int lent_list_;  // plan.lent
  Index num_components_;
  bool folds_, expands_;
  SharedArray<Real> own_buffer_;
  std::span<Real> lent_;          // rows that are lent, or received from borrowers; as in plan.lent
  std::span<Real> staged_;        // rows without their padding, and those that neighbours read
  std::vector<std::byte> notes_;  // the contents of messages that only say that rows are there, or were read
  std::size_t num_notes_ = 0;
  std::vector<Outgoing> to_owners_, to_borrowers_;  // by rank
  std::vector<Incoming> from_borrowers_, from_owners_;
  Traffic sent_;
};

}  // namespace polyad
