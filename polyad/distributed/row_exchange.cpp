#include "polyad/distributed/row_exchange.hpp"

#include <algorithm>
#include <cassert>

#include "polyad/base/parallel.hpp"

namespace polyad {

namespace {

Index num_staged(const ExchangePlan& plan, bool is_padded) {
  return is_padded ? plan.num_travelling() : 0;
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
      first_partial_(rows.first_partial) {
  if (rows.buffer.empty())
    own_buffer_.resize(std::size_t(num_words_under_way(plan, num_components_, rows.factor.num_cols())));
  const auto buffer = rows.buffer.empty() ? std::span<Real>(own_buffer_) : rows.buffer;
  assert(std::ssize(buffer) >= num_words_under_way(plan, num_components_, rows.factor.num_cols()));
  lent_ = buffer.first(plan.lent.size() * std::size_t(num_components_));
  staged_ = buffer.subspan(lent_.size(), std::size_t(num_staged(plan, is_padded()) * num_components_));
  const int fold_tag = 2 * tag, expand_tag = 2 * tag + 1;
  const auto post = [](Channel channel, std::span<const Real> words) {
    return Post{std::move(channel), std::ssize(words)};
  };
  const bool folds = plan.folds && rows.folds;
  for (const auto& peer : plan.lenders) {
    if (rows.expands) {
      const auto in = borrowed_rows(rows.factor, 0, peer);
      from_owners_.push_back(post(comm.receive_channel<Real>(in, peer.rank, expand_tag), in));
    }
    if (!folds) continue;
    const auto out = borrowed_rows(rows.partial, first_partial_, peer);
    to_owners_.push_back(post(comm.send_channel<Real>(out, peer.rank, fold_tag), out));
  }
  for (const auto& peer : plan.borrowers) {
    const auto lent = lent_rows(peer);
    if (rows.expands)
      to_borrowers_.push_back(post(comm.send_channel<Real>(lent, peer.rank, expand_tag), lent));
    if (folds) from_borrowers_.push_back(post(comm.receive_channel<Real>(lent, peer.rank, fold_tag), lent));
  }
}

template <class Real>
std::span<Real> RowExchange<Real>::borrowed_rows(Matrix<Real>& matrix, Index first,
                                                 const ExchangePlan::Peer& peer) {
  const auto words = is_padded() ? staged_ : matrix.flat();
  if (is_padded()) first = plan_->is_replicated ? 0 : plan_->num_owned;
  return words.subspan(std::size_t((peer.begin - first) * num_components_),
                       std::size_t(peer.num_rows() * num_components_));
}

template <class Real>
std::span<Real> RowExchange<Real>::lent_rows(const ExchangePlan::Peer& peer) {
  return lent_.subspan(std::size_t(peer.begin * num_components_),
                       std::size_t(peer.num_rows() * num_components_));
}

template <class Real>
void RowExchange<Real>::send(Post& post) {
  post.channel.start();
  sent_ += {post.num_words, 1, 0};
}

template <class Real>
void RowExchange<Real>::stage(const ExchangePlan::Peer& peer) {
  Real* const to = borrowed_rows(*partial_, first_partial_, peer).data();
  parallel_for(peer.num_rows(), [&](Index i) {
    std::copy_n(partial_row(peer.begin + i).data(), num_components_, to + i * num_components_);
  });
}

template <class Real>
void RowExchange<Real>::unstage(const ExchangePlan::Peer& peer, Matrix<Real>& matrix, Index first) {
  const Real* const from = borrowed_rows(matrix, first, peer).data();
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
  if (is_padded()) unstage(all, *partial_, first_partial_);
  sent_.reduced_words += std::ssize(words);
}

template <class Real>
void RowExchange<Real>::start_folding() {
  if (plan_->is_replicated) return reduce();
  if (!plan_->folds) return;
  for (auto& post : from_borrowers_) post.channel.start();
  for (std::size_t p = 0; p < to_owners_.size(); ++p) {
    if (is_padded()) stage(plan_->lenders[p]);
    send(to_owners_[p]);
  }
}

template <class Real>
void RowExchange<Real>::finish_folding() {
  if (plan_->is_replicated || !plan_->folds) return;
  for (std::size_t p = 0; p < from_borrowers_.size(); ++p) {
    from_borrowers_[p].channel.wait();
    const auto& peer = plan_->borrowers[p];
    const Real* const from = lent_rows(peer).data();
    parallel_for(peer.num_rows(), [&](Index i) {
      Real* const row = partial_row(Index(plan_->lent[peer.begin + i])).data();
      for (Index c = 0; c < num_components_; ++c) row[c] += from[i * num_components_ + c];
    });
  }
  for (auto& post : to_owners_) post.channel.wait();
}

template <class Real>
void RowExchange<Real>::start_expanding() {
  for (auto& post : from_owners_) post.channel.start();
  for (std::size_t p = 0; p < to_borrowers_.size(); ++p) {
    const auto& peer = plan_->borrowers[p];
    Real* const to = lent_rows(peer).data();
    parallel_for(peer.num_rows(), [&](Index i) {
      std::copy_n(factor_->row(Index(plan_->lent[peer.begin + i])).data(), num_components_,
                  to + i * num_components_);
    });
    send(to_borrowers_[p]);
  }
}

template <class Real>
void RowExchange<Real>::finish_expanding() {
  for (std::size_t p = 0; p < from_owners_.size(); ++p) {
    from_owners_[p].channel.wait();
    if (is_padded()) unstage(plan_->lenders[p], *factor_, 0);
  }
  for (auto& post : to_borrowers_) post.channel.wait();
}

template class RowExchange<float>;
template class RowExchange<double>;

}  // namespace polyad
