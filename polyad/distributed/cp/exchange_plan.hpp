#pragma once

#include <functional>
#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/row_owners.hpp"

namespace polyad {

// With whom a process exchanges rows of one factor, and which: a value, the same in every iteration. Local
// rows [0, num_owned) are the process's own: first, ascending, those that nobody else touches, then,
// ascending, those it lends; the rest it borrows, ordered by owner and then by row. So what no other process
// adds to comes first in a tree, and a pass can leave it for later.
struct ExchangePlan {
  // Rows that go to, or come from, one other process.
  struct Peer {
    int rank;
    Index begin, end;  // in the local rows (of a lender), in `lent` (of a borrower)

    Index num_rows() const { return end - begin; }
    friend bool operator==(const Peer&, const Peer&) = default;
  };

  Array<Index> rows;                      // [local row]: the global row
  Index num_owned = 0, num_interior = 0;  // of its own rows, those that nobody else touches
  std::vector<Peer> lenders, borrowers;   // by rank
  Array<LocalIndex> lent;                 // own rows, by borrower and then by row
  // Whether borrowed rows hold partial sums that their owners want, on any process: not in coarse grain,
  // where all nonzeros of a row are at its owner.
  bool folds = true;
  // Every process has all rows of the mode and solves them all; what they fold is added up in an all-reduce,
  // and nothing is expanded. For accounting and output the first process owns them.
  bool is_replicated = false;

  Index num_local() const { return std::ssize(rows); }
  Index num_borrowed() const { return is_replicated ? 0 : num_local() - num_owned; }
  // That leave this process with their sums: to their owners, or everywhere.
  Index num_travelling() const { return is_replicated ? num_local() : num_borrowed(); }
  Index num_solved() const { return is_replicated ? num_local() : num_owned; }
  // The first rows, whose sums are complete without a fold.
  Index num_complete() const { return folds ? num_interior : num_owned; }
  Index rows_folded() const { return folds ? num_borrowed() : 0; }  // sent by this process
  Index rows_expanded() const { return std::ssize(lent); }          // likewise
  Index messages_sent() const { return (folds ? std::ssize(lenders) : 0) + std::ssize(borrowers); }

  friend bool operator==(const ExchangePlan&, const ExchangePlan&) = default;
};

// The rows that a process touches but does not own, by owner and then by row.
struct Borrowing {
  Array<Index> rows;
  std::vector<Index> counts;  // [owner]
};
Borrowing plan_borrowing(int rank, int num_parts, std::span<const Index> touched, const RowOwners& owners);

// From what a process touches (ascending), what it borrows, and what others want to borrow of it: their rows,
// by borrower and then by row. Rows that nobody touches have no place in any plan. Pure.
ExchangePlan plan_exchange(std::span<const Index> touched, const Borrowing& borrowed,
                           std::span<const Index> wanted, std::span<const Index> wanted_counts);

// The same where every process knows its own part only. Collective.
ExchangePlan plan_exchange(const Comm& comm, std::span<const Index> touched, const RowOwners& owners);

// All rows to all processes. For short modes. Collective.
ExchangePlan plan_replication(const Comm& comm, std::span<const Index> touched);

}  // namespace polyad
