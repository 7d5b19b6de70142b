#pragma once

#include <vector>

#include "polyad/distributed/row_exchange.hpp"

namespace polyad {

// The exchange of the rows of one mode by any plan: directly, or in stages by way of other processes. To its
// user both are like a RowExchange, which serves every stage. In a fold the first stage is under way between
// start and finish, in an expand the last one; the others follow in finish. Partial sums are added in the
// order of stages, and within a stage of ranks: the same bits on every run.
template <class Real>
class RoutedExchange {
 public:
  using Rows = typename RowExchange<Real>::Rows;
  // As for RowExchange; stages of one exchange do not share their parts of the buffer.
  static Index num_words_under_way(const ExchangePlan& plan, Index num_components, SentRows sent);
  // That the places of rows keep, in lists (RowPlace::keep_list).
  static Index num_listed_rows(const ExchangePlan& plan);
  // `tag`: of the mode, from 0 to 99. Collective.
  RoutedExchange(const Comm& comm, const ExchangePlan& plan, Rows rows, int tag);

  void start_folding() { stages_.front().start_folding(); }
  void finish_folding();
  void fold() { start_folding(), finish_folding(); }
  void start_expanding(NewRows at = NewRows::in_factor) { stages_.back().start_expanding(at); }
  void finish_expanding();

  // [stage], the first of the fold first; one if rows go directly
  std::vector<Traffic> sent_by_stage() const;
  // Of all stages; see RowExchange.
  double copying_seconds() const;

 private:
  std::vector<RowExchange<Real>> stages_;
};

}  // namespace polyad
