#include "polyad/distributed/row_exchange.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <numeric>

#include "polyad/base/parallel.hpp"
#include "polyad/distributed/matrix_rows.hpp"

namespace polyad {

namespace {

// Rows that are copied before they are sent: in any case, or to where neighbours read them.
Index num_staged(const ExchangePlan& plan, SentRows sent) {
  return sent == SentRows::copied ? plan.num_travelling() : plan.rows_folded();
}

// Between what one process writes into its shared pages, or has read in those of others, and the message that
// says so, and between that message and what the other does next. MPI orders only what it transfers itself.
void order_accesses() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Sends a number to each of some peers, and returns those that other peers send; both ordered by rank.
std::vector<Index> exchange_numbers(const Comm& comm, const std::vector<ExchangePlan::Peer>& to,
                                    std::span<const Index> numbers,
                                    const std::vector<ExchangePlan::Peer>& from) {
  std::vector<Index> send_counts(std::size_t(comm.size())), receive_counts(std::size_t(comm.size()));
  for (const auto& peer : to) send_counts[peer.rank] = 1;
  for (const auto& peer : from) receive_counts[peer.rank] = 1;
  std::vector<Index> received(from.size());
  comm.all_to_all<Index>(numbers, send_counts, received, receive_counts);
  return received;
}

}  // namespace

template <class Real>
Index RowExchange<Real>::num_words_under_way(const ExchangePlan& plan, Index num_components, SentRows sent) {
  return (std::ssize(plan.lent) + num_staged(plan, sent)) * num_components;
}

template <class Real>
RowExchange<Real>::RowExchange(const Comm& comm, const ExchangePlan& plan, Rows rows, int tag)
    : comm_(comm),
      plan_(&plan),
      own_place_(rows.place == nullptr ? std::make_unique<MatrixRows<Real>>(rows.partial, rows.first_partial,
                                                                            rows.factor, rows.num_components)
                                       : nullptr),
      rows_(rows.place == nullptr ? own_place_.get() : rows.place),
      sends_(rows_->sends()),
      lent_list_(rows_->keep_list(plan.lent)),
      num_components_(rows.num_components),
      folds_(plan.folds && rows.folds),
      expands_(rows.expands),
      pages_(rows.place == nullptr && folds_ ? rows.partial_pages : nullptr),
      first_partial_(rows.first_partial),
      num_columns_(rows.factor.num_cols()),
      factor_(&rows.factor) {
  const Index num_words = num_words_under_way(plan, num_components_, sends_);
  if (rows.buffer == nullptr) own_buffer_ = SharedArray<Real>(comm, num_words);
  auto& buffer = rows.buffer == nullptr ? own_buffer_ : *rows.buffer;
  assert(std::ssize(buffer.mine()) >= rows.first_word + num_words && plan.stages.empty());
  const auto words = buffer.mine().subspan(std::size_t(rows.first_word), std::size_t(num_words));
  lent_ = words.first(plan.lent.size() * std::size_t(num_components_));
  staged_ = words.subspan(lent_.size());
  notes_.resize(4 * (plan.lenders.size() + plan.borrowers.size()));
  constexpr int tags_of_mode = 4;
  if (folds_) connect_folds(buffer, tags_of_mode * tag);
  if (expands_) connect_expands(buffer, tags_of_mode * tag + 2);
}

template <class Real>
void RowExchange<Real>::connect_folds(SharedArray<Real>& buffer, int tag) {
  std::vector<Index> places;
  for (const auto& peer : plan_->lenders)
    places.push_back(is_in_place(peer.rank) ? (peer.begin - first_partial_) * num_columns_
                                            : staged_rows(peer).data() - buffer.mine().data());
  const auto found = exchange_numbers(comm_, plan_->lenders, places, plan_->borrowers);
  for (const auto& peer : plan_->lenders) {
    const bool is_near = is_in_place(peer.rank) || buffer.of(peer.rank) != nullptr;
    const bool is_copied = !is_in_place(peer.rank) && (is_near || sends_ == SentRows::copied);
    const auto words = is_copied ? staged_rows(peer) : rows_->sums_in_place(peer.begin, peer.end);
    to_owners_.push_back(send_to(peer, words, is_copied, is_near, tag));
  }
  for (std::size_t p = 0; p < plan_->borrowers.size(); ++p) {
    const auto& peer = plan_->borrowers[p];
    from_borrowers_.push_back(
        receive_from(peer.rank, lent_rows(peer), true, found_at(buffer, peer.rank, found[p]), tag));
  }
}

template <class Real>
void RowExchange<Real>::connect_expands(SharedArray<Real>& buffer, int tag) {
  std::vector<Index> places;
  for (const auto& peer : plan_->borrowers)
    places.push_back(is_in_place(peer.rank) ? 0 : lent_rows(peer).data() - buffer.mine().data());
  const auto found = exchange_numbers(comm_, plan_->borrowers, places, plan_->lenders);
  tell_lent_places();
  Index num_told = 0;
  for (std::size_t p = 0; p < plan_->lenders.size(); ++p) {
    const auto& peer = plan_->lenders[p];
    auto rows = found_at(buffer, peer.rank, found[p]);
    if (is_in_place(peer.rank)) {
      rows.list = std::span(lent_places_).subspan(std::size_t(num_told), std::size_t(peer.num_rows()));
      num_told += peer.num_rows();
    }
    const bool is_copied = rows.first != nullptr || sends_ == SentRows::copied;
    const auto words =
        sends_ == SentRows::copied ? staged_rows(peer) : rows_->rows_in_place(peer.begin, peer.end);
    from_owners_.push_back(receive_from(peer.rank, words, is_copied, rows, tag));
  }
  for (const auto& peer : plan_->borrowers) {
    const bool is_near = is_in_place(peer.rank) || buffer.of(peer.rank) != nullptr;
    to_borrowers_.push_back(send_to(peer, lent_rows(peer), !is_in_place(peer.rank), is_near, tag));
  }
}

template <class Real>
bool RowExchange<Real>::is_in_place(int rank) const {
  return pages_ != nullptr && pages_->of(rank) != nullptr;
}

// The rows that a neighbour has at a place of its pages; none for others.
template <class Real>
FoundRows<Real> RowExchange<Real>::found_at(const SharedArray<Real>& buffer, int rank, Index place) const {
  if (is_in_place(rank)) return {pages_->of(rank) + place, num_columns_};
  const Real* const pages = buffer.of(rank);
  return {pages == nullptr ? nullptr : pages + place, num_components_};
}

// Owners tell where in their pages the rows are that they lend.
template <class Real>
void RowExchange<Real>::tell_lent_places() {
  if (pages_ == nullptr) return;
  std::vector<Index> send_counts(std::size_t(comm_.size())), receive_counts(std::size_t(comm_.size()));
  Array<LocalIndex> places;
  for (const auto& peer : plan_->borrowers) {
    if (!is_in_place(peer.rank)) continue;
    lends_in_place_ = true;
    send_counts[peer.rank] = peer.num_rows();
    for (Index i = peer.begin; i < peer.end; ++i)
      places.push_back(LocalIndex(Index(plan_->lent[i]) - first_partial_));
  }
  Index num_places = 0;
  for (const auto& peer : plan_->lenders)
    if (is_in_place(peer.rank)) num_places += receive_counts[peer.rank] = peer.num_rows();
  lent_places_.resize(std::size_t(num_places));
  comm_.all_to_all<LocalIndex>(places, send_counts, lent_places_, receive_counts);
}

template <class Real>
std::span<std::byte> RowExchange<Real>::next_note() {
  assert(num_notes_ < notes_.size());
  return std::span(notes_).subspan(num_notes_++, 1);
}

template <class Real>
RowExchange<Real>::Outgoing RowExchange<Real>::send_to(const ExchangePlan::Peer& peer,
                                                       std::span<const Real> words, bool is_copied,
                                                       bool is_near, int tag) {
  const Index num_words = peer.num_rows() * num_components_;
  if (!is_near)
    return {.num_words = num_words,
            .is_copied = is_copied,
            .message = comm_.send_channel<Real>(words, peer.rank, tag)};
  return {.num_words = num_words,
          .is_copied = is_copied,
          .message = comm_.send_channel<std::byte>(next_note(), peer.rank, tag),
          .was_read = comm_.receive_channel<std::byte>(next_note(), peer.rank, tag + 1)};
}

template <class Real>
RowExchange<Real>::Incoming RowExchange<Real>::receive_from(int rank, std::span<Real> words, bool is_copied,
                                                            const FoundRows<Real>& near_rows, int tag) {
  if (near_rows.first == nullptr)
    return {.is_copied = is_copied,
            .message = comm_.receive_channel<Real>(words, rank, tag),
            .rows = {words.data(), num_components_}};
  return {.is_copied = is_copied,
          .message = comm_.receive_channel<std::byte>(next_note(), rank, tag),
          .rows = near_rows,
          .has_read = comm_.send_channel<std::byte>(next_note(), rank, tag + 1)};
}

template <class Real>
void RowExchange<Real>::start(Outgoing& outgoing) {
  if (outgoing.was_read) outgoing.was_read->start();
  order_accesses();
  outgoing.message.start();
  sent_ += {outgoing.num_words, 1, 0};
}

template <class Real>
void RowExchange<Real>::finish(std::vector<Outgoing>& all) {
  for (auto& outgoing : all) {
    outgoing.message.wait();
    if (outgoing.was_read) outgoing.was_read->wait();
  }
  order_accesses();
}

template <class Real>
void RowExchange<Real>::start(std::vector<Incoming>& all) {
  for (auto& incoming : all) {
    if (incoming.has_read) incoming.has_read->wait();
    incoming.message.start();
  }
}

template <class Real>
const FoundRows<Real>& RowExchange<Real>::wait_for(Incoming& incoming) {
  incoming.message.wait();
  order_accesses();
  return incoming.rows;
}

template <class Real>
void RowExchange<Real>::release(Incoming& incoming) {
  order_accesses();
  if (incoming.has_read) incoming.has_read->start();
}

template <class Real>
std::span<Real> RowExchange<Real>::staged_rows(const ExchangePlan::Peer& peer) {
  const Index first = plan_->is_replicated ? 0 : plan_->num_owned;
  return staged_.subspan(std::size_t((peer.begin - first) * num_components_),
                         std::size_t(peer.num_rows() * num_components_));
}

template <class Real>
std::span<Real> RowExchange<Real>::lent_rows(const ExchangePlan::Peer& peer) {
  return lent_.subspan(std::size_t(peer.begin * num_components_),
                       std::size_t(peer.num_rows() * num_components_));
}

// Adds the partial rows of all processes up, everywhere.
template <class Real>
void RowExchange<Real>::reduce() {
  const ExchangePlan::Peer all{comm_.rank(), 0, plan_->num_local()};
  const bool is_copied = sends_ == SentRows::copied;
  const auto words = is_copied ? staged_rows(all) : rows_->sums_in_place(all.begin, all.end);
  time_copy([&] {
    if (is_copied) rows_->take_sums(all.begin, all.end, words.data());
    rows_->finish();
  });
  comm_.all_reduce(words);
  if (is_copied) time_copy([&] { rows_->put_sums(words.data(), all.begin, all.end); });
  sent_.reduced_words += std::ssize(words);
}

// Peers are in order, and one begins where the last ends: where copies are waited for, it is for all at once.
template <class Real>
template <class Copy>
void RowExchange<Real>::send(std::vector<Outgoing>& all, const std::vector<ExchangePlan::Peer>& peers,
                             Copy copy) {
  if (all.empty()) return;
  if (!rows_->acts_at_once()) {
    assert(peers.back().end - peers.front().begin ==
           std::accumulate(peers.begin(), peers.end(), Index(0),
                           [](Index sum, const auto& peer) { return sum + peer.num_rows(); }));
    time_copy([&] {
      if (all.front().is_copied) copy(ExchangePlan::Peer{-1, peers.front().begin, peers.back().end});
      rows_->finish();
    });
    for (auto& outgoing : all) start(outgoing);
    return;
  }
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p].is_copied) time_copy([&] { copy(peers[p]); });
    start(all[p]);
  }
}

template <class Real>
template <class Read>
void RowExchange<Real>::receive(std::vector<Incoming>& all, const std::vector<ExchangePlan::Peer>& peers,
                                Read read) {
  const bool at_once = rows_->acts_at_once();
  for (std::size_t p = 0; p < all.size(); ++p) {
    const auto& from = wait_for(all[p]);
    if (all[p].is_copied) time_copy([&] { read(from, peers[p]); });
    if (at_once) release(all[p]);
  }
  if (at_once || all.empty()) return;
  time_copy([&] { rows_->finish(); });
  for (auto& incoming : all) release(incoming);
}

template <class Real>
void RowExchange<Real>::start_folding() {
  if (plan_->is_replicated) return reduce();
  if (!folds_) return;
  start(from_borrowers_);
  finish(to_owners_);  // of the last time
  send(to_owners_, plan_->lenders, [&](const ExchangePlan::Peer& peer) {
    rows_->take_sums(peer.begin, peer.end, staged_rows(peer).data());
  });
}

template <class Real>
void RowExchange<Real>::finish_folding() {
  if (plan_->is_replicated || !folds_) return;
  receive(from_borrowers_, plan_->borrowers,
          [&](const FoundRows<Real>& from, const ExchangePlan::Peer& peer) {
            rows_->add_sums(from, lent_list_, peer.begin, peer.end);
          });
  // Neighbours have read the rows at the latest when they lend the new ones.
  for (auto& outgoing : to_owners_) outgoing.message.wait();
  if (!expands_) finish(to_owners_);
}

// Those that are lent, from the factor.
template <class Real>
void RowExchange<Real>::put_lent_rows_in_place() {
  parallel_for(plan_->num_owned - plan_->num_interior, [&](Index i) {
    const Index row = plan_->num_interior + i;
    std::copy_n(factor_->row(row).data(), num_components_,
                pages_->mine().data() + (row - first_partial_) * num_columns_);
  });
}

template <class Real>
void RowExchange<Real>::start_expanding(NewRows at) {
  if (lends_in_place_ && at == NewRows::in_factor) time_copy([&] { put_lent_rows_in_place(); });
  start(from_owners_);
  send(to_borrowers_, plan_->borrowers, [&](const ExchangePlan::Peer& peer) {
    rows_->take_rows(lent_list_, peer.begin, peer.end, lent_rows(peer).data());
  });
}

template <class Real>
void RowExchange<Real>::finish_expanding() {
  receive(from_owners_, plan_->lenders, [&](const FoundRows<Real>& from, const ExchangePlan::Peer& peer) {
    rows_->put_rows(from, peer.begin, peer.end);
  });
  finish(to_borrowers_);
  finish(to_owners_);
}

template class RowExchange<float>;
template class RowExchange<double>;

}  // namespace polyad
