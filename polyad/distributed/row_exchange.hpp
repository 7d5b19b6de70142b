#pragma once

#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/comm/comm.hpp"
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
// because their messages are persistent. All processes must fold and expand in the same order.
template <class Real>
class RowExchange {
 public:
  struct Rows {
    Matrix<Real>&partial, &factor;
    Index num_components;               // number of leading columns to send; the others are padding
    Index first_partial = 0;            // local row of the first partial row
    std::span<Real> buffer = {};        // buffer of at least num_words_under_way(); empty: its own
    bool folds = true, expands = true;  // what it is used for; a matrix that is not may have any size
  };
  // Size of the buffer, in words. Exchanges that do not overlap in time may share one buffer.
  static Index num_words_under_way(const ExchangePlan& plan, Index num_components, Index num_cols);
  // `tag` distinguishes the exchanges of different modes.
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

 private:
  struct Post {
    Channel channel;
    Index num_words;
  };
  bool is_padded() const { return num_components_ != factor_->num_cols(); }
  std::span<Real> partial_row(Index row) { return partial_->row(row - first_partial_); }
  // The borrowed rows within a matrix whose first row is this local row.
  std::span<Real> borrowed_rows(Matrix<Real>& matrix, Index first, const ExchangePlan::Peer& peer);
  std::span<Real> lent_rows(const ExchangePlan::Peer& peer);
  void send(Post& post);
  void reduce();
  void stage(const ExchangePlan::Peer& peer);  // copies partial rows into the send buffer
  void unstage(const ExchangePlan::Peer& peer, Matrix<Real>& matrix, Index first);  // rows that came

  Comm comm_;
  const ExchangePlan* plan_;
  Matrix<Real>* partial_;
  Matrix<Real>* factor_;
  Index num_components_, first_partial_;
  Array<Real> own_buffer_;
  std::span<Real> lent_;    // rows that are lent, or received from borrowers; as in plan.lent
  std::span<Real> staged_;  // rows without their padding; unused without padding
  std::vector<Post> to_owners_, from_borrowers_, to_borrowers_, from_owners_;  // by rank
  Traffic sent_;
};

}  // namespace polyad
