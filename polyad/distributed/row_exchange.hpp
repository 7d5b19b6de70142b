#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/base/row_place.hpp"
#include "polyad/base/timings.hpp"
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

// Where an owner has the rows that it expands.
enum class NewRows { in_factor, in_both };  // both: in the place of their partial rows as well

// Communicates the rows of one mode according to its plan: partial rows of an MTTKRP to their owners (fold),
// and factor rows to the processes that borrow them (expand). Padding columns are not sent. The factor has a
// row per local row; the partial rows may be only those that are not complete. Both matrices must not move,
// because their messages are persistent. All processes must fold and expand a mode equally often, and
// replicated modes, which are summed together, in the same order; messages of other modes are told apart by
// tags. Rows that are elsewhere than in matrices, on a GPU, have a RowPlace, which must live as long.
//
// Between processes of one machine no rows are sent: the sender puts them into its shared pages and sends a
// note, the receiver reads them there with all its threads and sends a note back. Both count as one message
// of these rows. Where the partial rows are in shared pages themselves, nothing is put there: the owner reads
// its borrowers' partial rows, and these read the new rows in the place of the owner's.
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
    // What `partial` begins with; null: its memory is private. Unused if the rows are elsewhere.
    SharedArray<Real>* partial_pages = nullptr;
  };
  // Size of the buffer, in words. Exchanges that do not overlap in time may share one buffer.
  static Index num_words_under_way(const ExchangePlan& plan, Index num_components, SentRows sent);
  // `tag`, up to 8190, distinguishes the exchanges of different modes. The plan has no stages. Collective.
  RowExchange(const Comm& comm, const ExchangePlan& plan, Rows rows, int tag);
  RowExchange(const RowExchange&) = delete;
  RowExchange& operator=(const RowExchange&) = delete;
  RowExchange(RowExchange&&) noexcept = default;

  // Adds the partial rows of borrowers to those of the owners, in ascending order of rank: the same bits
  // on every run. Until it has finished, partial rows of borrowed rows must not be modified; where neighbours
  // read them in shared pages, not until the expand that follows has finished. Collective.
  void start_folding();
  void finish_folding();
  void fold() { start_folding(), finish_folding(); }
  // Overwrites borrowed rows of the factor, which must not be accessed until it has finished. Meanwhile owned
  // rows must not be modified, nor partial ones that neighbours read in shared pages. Collective.
  void start_expanding(NewRows at = NewRows::in_factor);
  void finish_expanding();

  // Whether this process and another one read each other's partial rows where they are.
  bool is_in_place(int rank) const;
  const Traffic& sent() const { return sent_; }
  // Seconds in which this process has copied rows to messages and from them or from the pages of neighbours,
  // and added partial ones.
  double copying_seconds() const { return copying_seconds_; }
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
    FoundRows<Real> rows;  // in the pages of the peer, or where they are received
    std::optional<Channel> has_read = {};
  };
  void start(Outgoing& outgoing);
  static void finish(std::vector<Outgoing>& all);
  static void start(std::vector<Incoming>& all);
  static const FoundRows<Real>& wait_for(Incoming& incoming);  // its rows
  static void release(Incoming& incoming);                     // they were read

  void connect_folds(SharedArray<Real>& buffer, int tag);
  void connect_expands(SharedArray<Real>& buffer, int tag);
  void tell_lent_places();
  FoundRows<Real> found_at(const SharedArray<Real>& buffer, int rank, Index place) const;
  Outgoing send_to(const ExchangePlan::Peer& peer, std::span<const Real> words, bool is_copied, bool is_near,
                   int tag);
  Incoming receive_from(int rank, std::span<Real> words, bool is_copied, const FoundRows<Real>& near_rows,
                        int tag);
  std::span<std::byte> next_note();
  std::span<Real> staged_rows(const ExchangePlan::Peer& peer);
  std::span<Real> lent_rows(const ExchangePlan::Peer& peer);
  void reduce();
  void put_lent_rows_in_place();
  // Copies the rows of all messages, unless these hold them in place, and starts the messages.
  template <class Copy>
  void send(std::vector<Outgoing>& all, const std::vector<ExchangePlan::Peer>& peers, Copy copy);
  // Waits for all messages, in order, and reads their rows.
  template <class Read>
  void receive(std::vector<Incoming>& all, const std::vector<ExchangePlan::Peer>& peers, Read read);
  template <class Copy>
  void time_copy(Copy copy) {
    const Stopwatch watch;
    copy();
    copying_seconds_ += watch.seconds();
  }

  Comm comm_;
  const ExchangePlan* plan_;
  std::unique_ptr<RowPlace<Real>> own_place_;
  RowPlace<Real>* rows_;
  SentRows sends_;
  int lent_list_;  // plan.lent
  Index num_components_;
  bool folds_, expands_;
  SharedArray<Real>* pages_;  // of the partial rows, if neighbours read them in place; or null
  Index first_partial_, num_columns_;
  const Matrix<Real>* factor_;
  bool lends_in_place_ = false;
  Array<LocalIndex> lent_places_;  // of the rows that it borrows from neighbours, in their pages
  SharedArray<Real> own_buffer_;
  std::span<Real> lent_;          // rows that are lent, or received from borrowers; as in plan.lent
  std::span<Real> staged_;        // rows without their padding, and those that neighbours read
  std::vector<std::byte> notes_;  // the contents of messages that only say that rows are there, or were read
  std::size_t num_notes_ = 0;
  std::vector<Outgoing> to_owners_, to_borrowers_;  // by rank
  std::vector<Incoming> from_borrowers_, from_owners_;
  Traffic sent_;
  double copying_seconds_ = 0;
};

}  // namespace polyad
