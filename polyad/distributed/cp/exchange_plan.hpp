#pragma once

#include <functional>
#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/row_owners.hpp"

namespace polyad {

// Which factor rows of one mode a process exchanges with which other processes; the same in every
// iteration. Local rows [0, num_owned) are owned: first, ascending, those that no other process
// touches, then, ascending, those that are lent; the rest are borrowed, ordered by owner and then by
// row. Rows that need no communication thus come first in a tree, so that a pass can process them last.
struct ExchangePlan {
  // Rows that are sent to, or received from, one other process.
  struct Peer {
    int rank;
    Index begin, end;  // in the local rows (of a lender), in `lent` (of a borrower)

    Index num_rows() const { return end - begin; }
    friend bool operator==(const Peer&, const Peer&) = default;
  };

  Array<Index> rows;                      // [local row]: the global row
  Index num_owned = 0, num_interior = 0;  // number of owned rows, and of those that no other process touches
  std::vector<Peer> lenders, borrowers;   // ordered by rank
  Array<LocalIndex> lent;                 // owned rows, ordered by borrower and then by row
  // Whether, on any process, borrowed rows hold partial sums for their owners.
  // False in coarse grain, where all nonzeros of a row are on its owner.
  bool folds = true;
  // Whether every process holds and updates all rows of the mode: their sums are combined
  // by all-reduce, and nothing is expanded. For accounting and output, process 0 owns them.
  bool is_replicated = false;
  // Of rows that go by way of other processes (routed_plan.hpp): one plan per stage of the fold, in this
  // order; the expand goes back through them. The local rows of a stage are the first ones of this plan:
  // those that the process still holds, and behind them those that it sends on; there are no lenders and
  // borrowers but those of the stages. Empty: rows go directly.
  std::vector<ExchangePlan> stages;
  // Of a stage: how many rows of the plan that it belongs to are its own. They are not listed again.
  Index num_rows_of_plan = 0;

  Index num_local() const { return std::ssize(rows) + num_rows_of_plan; }
  // Number of rows that this process receives in an expand.
  Index num_borrowed() const {
    if (is_replicated) return 0;
    return stages.empty() ? num_local() - num_owned : of_stages(&ExchangePlan::num_borrowed);
  }
  // Number of rows whose partial sums this process sends: to their owners, or to all if replicated.
  Index num_travelling() const { return is_replicated ? num_local() : num_borrowed(); }
  Index num_solved() const { return is_replicated ? num_local() : num_owned; }
  // Number of leading rows whose sums are complete without a fold.
  Index num_complete() const { return folds ? num_interior : num_owned; }
  Index rows_folded() const { return folds ? num_borrowed() : 0; }  // sent by this process
  Index rows_expanded() const {                                     // sent by this process
    return std::ssize(lent) + of_stages(&ExchangePlan::rows_expanded);
  }
  Index messages_sent() const {
    return (folds ? std::ssize(lenders) : 0) + std::ssize(borrowers) +
           of_stages(&ExchangePlan::messages_sent);
  }

  friend bool operator==(const ExchangePlan&, const ExchangePlan&) = default;

 private:
  Index of_stages(Index (ExchangePlan::*count)() const) const {
    Index sum = 0;
    for (const auto& stage : stages) sum += (stage.*count)();
    return sum;
  }
};

// The rows that a process touches but does not own, ordered by owner and then by row.
struct Borrowing {
  Array<Index> rows;
  std::vector<Index> counts;  // [owner]: number of rows
};
Borrowing plan_borrowing(int rank, int num_parts, std::span<const Index> touched, const RowOwners& owners);

// Computes a plan from the rows that a process touches (ascending), borrows and
// lends (by borrower and then by row). Rows that no process touches are in no plan.
ExchangePlan plan_exchange(std::span<const Index> touched, const Borrowing& borrowed,
                           std::span<const Index> wanted, std::span<const Index> wanted_counts);

// The same if every process knows only its own rows. Collective.
ExchangePlan plan_exchange(const Comm& comm, std::span<const Index> touched, const RowOwners& owners);

// A plan in which every process holds all rows, for short modes. Collective.
ExchangePlan plan_replication(const Comm& comm, std::span<const Index> touched);

}  // namespace polyad
