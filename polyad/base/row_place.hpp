#pragma once

#include <span>

#include "polyad/base/types.hpp"

namespace polyad {

// Whether a message holds rows where they are, or copies of them.
enum class SentRows { in_place, copied };
// Of rows of a matrix: padding columns do not travel.
constexpr SentRows sent_rows(Index num_components, Index num_cols) {
  return num_components == num_cols ? SentRows::in_place : SentRows::copied;
}

// Rows as another process has left them: one after the other, or those of a list. The stride is that of its
// rows, in words, of which the first are no padding.
template <class Real>
struct FoundRows {
  const Real* first = nullptr;
  Index stride = 0;
  std::span<const LocalIndex> list = {};  // counted from `first`; empty: one after the other

  const Real* row(Index i) const { return first + (list.empty() ? i : Index(list[i])) * stride; }
};

// Where the rows of a mode are while processes exchange them: those of a factor, and partial sums of its new
// ones. There they may have padding columns; in the buffers of messages they have none.
template <class Real>
class RowPlace {
 public:
  RowPlace() = default;
  RowPlace(const RowPlace&) = delete;
  RowPlace& operator=(const RowPlace&) = delete;
  virtual ~RowPlace() = default;

  virtual SentRows sends() const = 0;
  // Rows [begin, end), for messages that hold them in place.
  virtual std::span<Real> sums_in_place(Index begin, Index end) = 0;
  virtual std::span<Real> rows_in_place(Index begin, Index end) = 0;

  // Keeps a list of rows, for take_rows and add_sums, and returns its number.
  virtual int keep_list(std::span<const LocalIndex> rows) = 0;

  // Whether the functions below return when they have ended. If not, finish() waits for them, and for what
  // computes sums and rows.
  virtual bool acts_at_once() const = 0;
  virtual void finish() = 0;
  // Rows [begin, end).
  virtual void take_sums(Index begin, Index end, Real* to) = 0;
  virtual void put_sums(const Real* from, Index begin, Index end) = 0;
  virtual void put_rows(const FoundRows<Real>& from, Index begin, Index end) = 0;
  // Those of a list, [begin, end) in it.
  virtual void take_rows(int list, Index begin, Index end, Real* to) = 0;
  virtual void add_sums(const FoundRows<Real>& from, int list, Index begin, Index end) = 0;
};

}  // namespace polyad
