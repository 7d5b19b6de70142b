#pragma once

#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/exchange_plan.hpp"

namespace polyad {

// What a process sent, as it was handed to MPI: messages, and apart from them words that were all-reduced.
struct Traffic {
  Index words = 0, messages = 0, reduced_words = 0;

  void operator+=(const Traffic& other) {
    words += other.words;
    messages += other.messages;
    reduced_words += other.reduced_words;
  }
  friend Traffic operator-(const Traffic& a, const Traffic& b) {
    return {a.words - b.words, a.messages - b.messages, a.reduced_words - b.reduced_words};
  }
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// Moves the rows of one mode along its plan: partial rows of an MTTKRP to their owners, and rows of the
// factor to those who borrow them. Only columns that hold a component travel. The factor has a row per local
// row, the partial rows may be those only that are not complete; both must stay where they are, for their
// messages are prepared once. All processes must fold and expand in the same order.
template <class Real>
class RowExchange {
 public:
  struct Rows {
    Matrix<Real>&partial, &factor;
    Index num_components;       // the first columns; those behind are padding
    Index first_partial = 0;    // the local row of the first partial row
    std::span<Real> room = {};  // for num_words_under_way() at least; if there is none, it has its own
  };
  // That lie neither in the factor nor among the partial rows. Exchanges that take turns may share the room.
  static Index num_words_under_way(const ExchangePlan& plan, Index num_components, Index num_cols);
  // `tag` tells the exchanges of several modes apart.
  RowExchange(const Comm& comm, const ExchangePlan& plan, Rows rows, int tag);
  RowExchange(const RowExchange&) = delete;
  RowExchange& operator=(const RowExchange&) = delete;
  RowExchange(RowExchange&&) noexcept = default;

  // Adds the borrowers' partial rows to the owners', by ascending rank: the same bits on every run. Until it
  // has finished, the partial rows of borrowed rows must not be changed. Collective.
  void start_folding();
  void finish_folding();
  void fold() { start_folding(), finish_folding(); }
  // Overwrites borrowed rows of the factor, which until it has finished must not be touched. Collective.
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
  // Those of the matrix that begins with this local row.
  std::span<Real> borrowed_rows(Matrix<Real>& matrix, Index first, const ExchangePlan::Peer& peer);
  std::span<Real> lent_rows(const ExchangePlan::Peer& peer);
  void send(Post& post);
  void reduce();
  void stage(const ExchangePlan::Peer& peer);  // partial rows, to be sent
  void unstage(const ExchangePlan::Peer& peer, Matrix<Real>& matrix, Index first);  // rows that came

  Comm comm_;
  const ExchangePlan* plan_;
  Matrix<Real>* partial_;
  Matrix<Real>* factor_;
  Index num_components_, first_partial_;
  Array<Real> own_room_;
  std::span<Real> lent_;    // rows that are lent, or came back; as in plan.lent
  std::span<Real> staged_;  // rows that travel without their padding, if there is any
  std::vector<Post> to_owners_, from_borrowers_, to_borrowers_, from_owners_;  // by rank
  Traffic sent_;
};

}  // namespace polyad
