#include "polyad/distributed/cp/lending.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace polyad {
namespace {

constexpr Index max_parts_for_bits = 16384;  // 32 MiB

void keep_each_once(std::vector<Index>& pairs) {
  std::ranges::sort(pairs);
  const auto repeated = std::ranges::unique(pairs);
  pairs.erase(repeated.begin(), repeated.end());
}

// Each pair to one process, once. Collective.
std::vector<Index> bring_together(const Comm& comm, std::vector<Index> pairs, Index num_parts) {
  if (comm.size() == 1) return pairs;
  std::vector<Index> counts(std::size_t(comm.size()), 0);
  for (const Index pair : pairs) ++counts[pair / num_parts * comm.size() / num_parts];
  const auto met_counts = comm.exchange_counts(counts);
  std::vector<Index> met(std::size_t(std::accumulate(met_counts.begin(), met_counts.end(), Index(0))));
  comm.all_to_all<Index>(pairs, counts, met, met_counts);
  keep_each_once(met);
  return met;
}

}  // namespace

Lending::Lending(Index num_parts) : num_parts_(num_parts) {
  if (num_parts <= max_parts_for_bits) bits_.assign(std::size_t(num_parts * num_parts + 63) / 64, 0);
}

void Lending::add(const Lending& other) {
  for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] |= other.bits_[i];
  for (const Index pair : other.list_) add_to_list(pair);
}

void Lending::add_to_list(Index pair) {
  list_.push_back(pair);
  if (list_.size() < next_tidying_) return;
  keep_each_once(list_);
  next_tidying_ = std::max(next_tidying_, 2 * list_.size());
}

std::vector<Index> Lending::sorted_pairs() const {
  auto pairs = list_;
  keep_each_once(pairs);
  for (std::size_t i = 0; i < bits_.size(); ++i)
    for (auto rest = bits_[i]; rest != 0; rest &= rest - 1)
      pairs.push_back(Index(64 * i) + std::countr_zero(rest));
  return pairs;
}

std::vector<Index> Lending::messages(const Comm& comm, bool folds) const {
  std::vector<Index> messages(std::size_t(num_parts_), 0);
  for (const Index pair : bring_together(comm, sorted_pairs(), num_parts_)) {
    ++messages[pair / num_parts_];
    if (folds) ++messages[pair % num_parts_];
  }
  comm.all_reduce(std::span(messages));
  return messages;
}

}  // namespace polyad
