#include "polyad/distributed/cp/exchange_plan.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/distributed/cp/row_sets.hpp"

namespace polyad {
namespace {

Index sum(std::span<const Index> counts) {
  return std::accumulate(counts.begin(), counts.end(), Index(0));
}

std::vector<ExchangePlan::Peer> peers(std::span<const Index> counts, Index begin) {
  std::vector<ExchangePlan::Peer> result;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] > 0) result.push_back({int(rank), begin, begin + counts[rank]});
    begin += counts[rank];
  }
  return result;
}

}  // namespace

Borrowing plan_borrowing(int rank, int num_parts, std::span<const Index> touched, const RowOwners& owners) {
  Borrowing result{{}, std::vector<Index>(std::size_t(num_parts), 0)};
  std::vector<int> owner(touched.size());
  for (std::size_t i = 0; i < touched.size(); ++i) {
    owner[i] = owners(touched[i]);
    if (owner[i] != rank) ++result.counts[owner[i]];
  }
  std::vector<Index> next(result.counts.size());
  std::exclusive_scan(result.counts.begin(), result.counts.end(), next.begin(), Index(0));
  result.rows.resize(std::size_t(sum(result.counts)));
  for (std::size_t i = 0; i < touched.size(); ++i)
    if (owner[i] != rank) result.rows[next[owner[i]]++] = touched[i];
  return result;
}

ExchangePlan plan_exchange(std::span<const Index> touched, const Borrowing& borrowed,
                           std::span<const Index> wanted, std::span<const Index> wanted_counts) {
  ExchangePlan plan;
  const auto lent = distinct_rows(wanted);  // it may own them without touching them
  plan.rows = rows_without(rows_without(touched, distinct_rows(borrowed.rows)), lent);
  plan.num_interior = std::ssize(plan.rows);
  plan.lent.reserve(wanted.size());
  for (const Index row : wanted)
    plan.lent.push_back(LocalIndex(plan.num_interior + (std::ranges::lower_bound(lent, row) - lent.begin())));
  plan.rows.insert(plan.rows.end(), lent.begin(), lent.end());
  plan.num_owned = std::ssize(plan.rows);
  plan.rows.insert(plan.rows.end(), borrowed.rows.begin(), borrowed.rows.end());
  if (plan.num_local() > max_local_index)
    throw Error(Errc::resource, "a process needs " + std::to_string(plan.num_local()) +
                                    " rows of a mode; it can hold " + std::to_string(max_local_index));
  plan.lenders = peers(borrowed.counts, plan.num_owned);
  plan.borrowers = peers(wanted_counts, 0);
  return plan;
}

ExchangePlan plan_exchange(const Comm& comm, std::span<const Index> touched, const RowOwners& owners) {
  const auto borrowed = plan_borrowing(comm.rank(), comm.size(), touched, owners);
  const auto wanted_counts = comm.exchange_counts(borrowed.counts);
  Array<Index> wanted(std::size_t(sum(wanted_counts)));
  comm.all_to_all<Index>(borrowed.rows, borrowed.counts, wanted, wanted_counts);
  return plan_exchange(touched, borrowed, wanted, wanted_counts);
}

ExchangePlan plan_replication(const Comm& comm, std::span<const Index> touched) {
  ExchangePlan plan;
  plan.is_replicated = true;
  plan.rows = distinct_rows(comm.all_gather_varying<Index>(touched).items);
  plan.num_owned = comm.rank() == 0 ? plan.num_local() : 0;
  return plan;
}

}  // namespace polyad
