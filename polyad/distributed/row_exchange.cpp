#include "polyad/distributed/row_exchange.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>

#include "polyad/base/parallel.hpp"

namespace polyad {

namespace {

// Rows that are copied before they are sent: without their padding, or to where neighbours read them.
Index num_staged(const ExchangePlan& plan, bool is_padded) {
  return is_padded ? plan.num_travelling() : plan.rows_folded();
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
Index RowExchange<Real>::num_words_under_way(const ExchangePlan& plan, Index num_components, Index num_cols) {
  return (std::ssize(plan.lent) + num_staged(plan, num_components != num_cols)) * num_components;
}

template <class Real>
RowExchange<Real>::RowExchange(const Comm& comm, const ExchangePlan& plan, Rows rows, int tag)
    : comm_(comm),
      plan_(&plan),
      partial_(&rows.partial),
      factor_(&rows.factor),
      num_components_(rows.num_components),
      first_partial_(rows.first_partial),
      folds_(plan.folds && rows.folds),
      expands_(rows.expands) {
  const Index num_words = num_words_under_way(plan, num_components_, rows.factor.num_cols());
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
  for (const auto& peer : plan_->lenders) places.push_back(staged_rows(peer).data() - buffer.mine().data());
  const auto found = exchange_numbers(comm_, plan_->lenders, places, plan_->borrowers);
  for (const auto& peer : plan_->lenders) {
    const bool is_near = buffer.of(peer.rank) != nullptr;
    const auto words = is_near ? staged_rows(peer) : borrowed_rows(*partial_, first_partial_, peer);
    to_owners_.push_back(send_to(peer.rank, words, is_near, tag));
  }
  for (std::size_t p = 0; p < plan_->borrowers.size(); ++p) {
    const auto& peer = plan_->borrowers[p];
    const Real* const pages = buffer.of(peer.rank);
    from_borrowers_.push_back(
        receive_from(peer.rank, lent_rows(peer), pages == nullptr ? nullptr : pages + found[p], tag));
  }
}

template <class Real>
void RowExchange<Real>::connect_expands(SharedArray<Real>& buffer, int tag) {
  std::vector<Index> places;
  for (const auto& peer : plan_->borrowers) places.push_back(lent_rows(peer).data() - buffer.mine().data());
  const auto found = exchange_numbers(comm_, plan_->borrowers, places, plan_->lenders);
  for (std::size_t p = 0; p < plan_->lenders.size(); ++p) {
    const auto& peer = plan_->lenders[p];
    const Real* const pages = buffer.of(peer.rank);
    from_owners_.push_back(receive_from(peer.rank, borrowed_rows(*factor_, 0, peer),
                                        pages == nullptr ? nullptr : pages + found[p], tag));
  }
  for (const auto& peer : plan_->borrowers)
    to_borrowers_.push_back(send_to(peer.rank, lent_rows(peer), buffer.of(peer.rank) != nullptr, tag));
}

template <class Real>
std::span<std::byte> RowExchange<Real>::next_note() {
  assert(num_notes_ < notes_.size());
  return std::span(notes_).subspan(num_notes_++, 1);
}

template <class Real>
RowExchange<Real>::Outgoing RowExchange<Real>::send_to(int rank, std::span<const Real> words, bool is_near,
                                                       int tag) {
  if (!is_near)
    return {.num_words = std::ssize(words), .message = comm_.send_channel<Real>(words, rank, tag)};
  return {.num_words = std::ssize(words),
          .message = comm_.send_channel<std::byte>(next_note(), rank, tag),
          .was_read = comm_.receive_channel<std::byte>(next_note(), rank, tag + 1)};
}

template <class Real>
RowExchange<Real>::Incoming RowExchange<Real>::receive_from(int rank, std::span<Real> words,
                                                            const Real* near_words, int tag) {
  if (near_words == nullptr)
    return {.message = comm_.receive_channel<Real>(words, rank, tag), .rows = words.data()};
  return {.message = comm_.receive_channel<std::byte>(next_note(), rank, tag),
          .rows = near_words,
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
const Real* RowExchange<Real>::wait_for(Incoming& incoming) {
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
std::span<Real> RowExchange<Real>::borrowed_rows(Matrix<Real>& matrix, Index first,
                                                 const ExchangePlan::Peer& peer) {
  if (is_padded()) return staged_rows(peer);
  return matrix.flat().subspan(std::size_t((peer.begin - first) * num_components_),
                               std::size_t(peer.num_rows() * num_components_));
}

template <class Real>
std::span<Real> RowExchange<Real>::lent_rows(const ExchangePlan::Peer& peer) {
  return lent_.subspan(std::size_t(peer.begin * num_components_),
                       std::size_t(peer.num_rows() * num_components_));
}

template <class Real>
void RowExchange<Real>::stage(const ExchangePlan::Peer& peer) {
  Real* const to = staged_rows(peer).data();
  parallel_for(peer.num_rows(), [&](Index i) {
    std::copy_n(partial_row(peer.begin + i).data(), num_components_, to + i * num_components_);
  });
}

template <class Real>
void RowExchange<Real>::unstage(const Real* from, const ExchangePlan::Peer& peer, Matrix<Real>& matrix,
                                Index first) {
  parallel_for(peer.num_rows(), [&](Index i) {
    std::copy_n(from + i * num_components_, num_components_, matrix.row(peer.begin + i - first).data());
  });
}

// Adds the partial rows of all processes up, everywhere.
template <class Real>
void RowExchange<Real>::reduce() {
  const ExchangePlan::Peer all{comm_.rank(), 0, plan_->num_local()};
  if (is_padded()) stage(all);
  const auto words = borrowed_rows(*partial_, first_partial_, all);
  comm_.all_reduce(words);
  if (is_padded()) unstage(words.data(), all, *partial_, first_partial_);
  sent_.reduced_words += std::ssize(words);
}

template <class Real>
void RowExchange<Real>::start_folding() {
  if (plan_->is_replicated) return reduce();
  if (!folds_) return;
  start(from_borrowers_);
  finish(to_owners_);  // of the last time
  for (std::size_t p = 0; p < to_owners_.size(); ++p) {
    if (is_padded() || to_owners_[p].was_read) stage(plan_->lenders[p]);
    start(to_owners_[p]);
  }
}

template <class Real>
void RowExchange<Real>::finish_folding() {
  if (plan_->is_replicated || !folds_) return;
  for (std::size_t p = 0; p < from_borrowers_.size(); ++p) {
    const auto& peer = plan_->borrowers[p];
    const Real* const from = wait_for(from_borrowers_[p]);
    parallel_for(peer.num_rows(), [&](Index i) {
      Real* const row = partial_row(Index(plan_->lent[peer.begin + i])).data();
      for (Index c = 0; c < num_components_; ++c) row[c] += from[i * num_components_ + c];
    });
    release(from_borrowers_[p]);
  }
  // Neighbours have read the rows at the latest when they lend the new ones.
  for (auto& outgoing : to_owners_) outgoing.message.wait();
  if (!expands_) finish(to_owners_);
}

template <class Real>
void RowExchange<Real>::start_expanding() {
  start(from_owners_);
  for (std::size_t p = 0; p < to_borrowers_.size(); ++p) {
    const auto& peer = plan_->borrowers[p];
    Real* const to = lent_rows(peer).data();
    parallel_for(peer.num_rows(), [&](Index i) {
      std::copy_n(factor_->row(Index(plan_->lent[peer.begin + i])).data(), num_components_,
                  to + i * num_components_);
    });
    start(to_borrowers_[p]);
  }
}

template <class Real>
void RowExchange<Real>::finish_expanding() {
  for (std::size_t p = 0; p < from_owners_.size(); ++p) {
    auto& incoming = from_owners_[p];
    const Real* const from = wait_for(incoming);
    if (is_padded() || incoming.has_read) unstage(from, plan_->lenders[p], *factor_, 0);
    release(incoming);
  }
  finish(to_borrowers_);
  finish(to_owners_);
}

template class RowExchange<float>;
template class RowExchange<double>;

}  // namespace polyad
