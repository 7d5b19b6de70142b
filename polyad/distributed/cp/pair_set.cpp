#include "polyad/distributed/cp/pair_set.hpp"

#include <algorithm>
#include <numeric>

namespace polyad {
namespace {

constexpr Index max_pairs_for_bits = Index(1) << 28;  // 32 MiB

void keep_each_once(std::vector<Index>& pairs) {
  std::ranges::sort(pairs);
  const auto repeated = std::ranges::unique(pairs);
  pairs.erase(repeated.begin(), repeated.end());
}

}  // namespace

PairSet::PairSet(Index num_first, Index num_second) : num_first_(num_first), num_second_(num_second) {
  const Index num_pairs = num_first * num_second;
  if (num_pairs <= max_pairs_for_bits) bits_.assign(std::size_t(num_pairs + 63) / 64, 0);
}

void PairSet::add(const PairSet& other) {
  for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] |= other.bits_[i];
  for (const Index pair : other.list_) add_to_list(pair);
}

void PairSet::add_to_list(Index pair) {
  list_.push_back(pair);
  if (list_.size() < next_tidying_) return;
  keep_each_once(list_);
  next_tidying_ = std::max(next_tidying_, 2 * list_.size());
}

std::vector<Index> PairSet::sorted_list() const {
  auto pairs = list_;
  keep_each_once(pairs);
  return pairs;
}

// Each pair to the process that deals with its first number. Collective.
std::vector<Index> PairSet::bring_together(const Comm& comm) const {
  std::vector<Index> pairs, counts(std::size_t(comm.size()), 0);
  for_each([&](Index pair) {
    pairs.push_back(pair);
    ++counts[pair / num_second_ * comm.size() / num_first_];
  });
  const auto met_counts = comm.exchange_counts(counts);
  std::vector<Index> met(std::size_t(std::accumulate(met_counts.begin(), met_counts.end(), Index(0))));
  comm.all_to_all<Index>(pairs, counts, met, met_counts);
  keep_each_once(met);
  return met;
}

}  // namespace polyad
