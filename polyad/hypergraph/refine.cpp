#include "polyad/hypergraph/refine.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "polyad/base/parallel.hpp"
#include "polyad/hypergraph/shuffled.hpp"

namespace polyad {

namespace {

constexpr Index chunk = 64;  // vertices that are looked at in their order
constexpr Index block = 32;  // parts whose sums are compared at once
constexpr std::uint64_t shuffle_stream = 0x72656669;

// Chunks that are looked at before moves are made; not a matter of threads.
Index chunks_of_batch(Index num_chunks) {
  return std::clamp<Index>(num_chunks / 64, 32, 256);
}

template <class Sum>
Sum largest(const Sum* sums, Index count) {
  Sum most = 0;
  for (Index p = 0; p < count; ++p) most = std::max(most, sums[p]);
  return most;
}

}  // namespace

Refiner::Refiner(const Hypergraph& h, std::vector<int>& parts, const PartLimits& limits,
                 const Objective& objective)
    : h_(h),
      parts_(parts),
      objective_(objective),
      num_parts_(int(limits[0].size())),
      balance_(h, parts, limits),
      counts_(h, parts, num_parts_) {
  for (Index lambda = 0; lambda <= num_parts_; ++lambda) steps_.push_back(objective.units_of_next(lambda));
}

// What a part more would cost the net if a vertex left the part `own`.
std::int64_t Refiner::weight_at(Index net, int own) const {
  if (objective_.kind == Objective::Kind::connectivity) return h_.net_weight(net);
  const Index left = counts_.lambda(net) - (counts_.of(net, own) == 1);
  return h_.net_weight(net) * steps_[left];
}

std::int64_t Refiner::gain(Index vertex, int to) const {
  const int own = parts_[vertex];
  std::int64_t gain = 0;
  for (const auto net : h_.nets(vertex))
    gain += weight_at(net, own) * (std::int64_t(counts_.affinity()(counts_.of(net, to))) -
                                   counts_.affinity()(counts_.of(net, own) - 1));
  return gain;
}

template <class Sum>
Refiner::Proposal Refiner::best_part(Index vertex, Wish wish, const Drawn& drawn, Sum* sums) const {
  const int own = parts_[vertex];
  const auto nets = h_.nets(vertex);
  std::fill_n(sums, counts_.width(), Sum{});
  for (std::size_t i = 0; i < nets.size(); ++i)
    counts_.add_affinities(nets[i], Sum(drawn.weights[i] >> drawn.shift), sums);
  sums[own] = 0;
  Proposal best{vertex, -1, 0};
  const std::int64_t stay = drawn.stay >> drawn.shift;
  std::int64_t bar = wish == Wish::gain ? stay : 0;
  for (Index begin = 0; begin < num_parts_; begin += block) {
    if (std::int64_t(largest(sums + begin, block)) < bar) continue;
    for (int part = int(begin); part < std::min<Index>(begin + block, num_parts_); ++part) {
      const auto sum = std::int64_t(sums[part]);
      if (sum < bar || part == own || !balance_.fits(vertex, part)) continue;
      if (best.part >= 0 && sum == bar && balance_.room(part) <= balance_.room(best.part)) continue;
      best.part = part;
      bar = sum;
    }
  }
  best.gain = bar - stay;
  return best;
}

Refiner::Proposal Refiner::propose(Index vertex, Wish wish, Scratch& scratch) const {
  const int own = parts_[vertex];
  const std::int64_t full = counts_.affinity().full();
  auto& drawn = scratch.drawn;
  drawn.weights.clear();
  drawn.stay = 0;
  std::int64_t total = 0;
  for (const auto net : h_.nets(vertex)) {
    const auto weight = weight_at(net, own);
    drawn.weights.push_back(weight);
    drawn.stay += weight * counts_.affinity()(counts_.of(net, own) - 1);
    total += weight * full;
  }
  if (wish == Wish::gain && drawn.stay == total) return {vertex, -1, 0};
  drawn.shift = 0;
  if (total <= std::numeric_limits<std::uint16_t>::max())
    return best_part(vertex, wish, drawn, scratch.narrow.data());
  while (total >> drawn.shift > std::numeric_limits<std::uint32_t>::max()) ++drawn.shift;
  return best_part(vertex, wish, drawn, scratch.wide.data());
}

// The move is made if it still gains, or costs nothing and evens the parts out.
bool Refiner::is_wanted(const Proposal& proposal) const {
  const auto [vertex, part, expected] = proposal;
  const int own = parts_[vertex];
  if (part < 0 || balance_.num_vertices(own) == 1 || !balance_.fits(vertex, part)) return false;
  const auto now = gain(vertex, part);
  return now > 0 || (now == 0 && balance_.evens_out(vertex, own, part));
}

void Refiner::move(Index vertex, int to) {
  const int from = parts_[vertex];
  for (const auto net : h_.nets(vertex)) counts_.move_pin(net, from, to);
  balance_.move(vertex, from, to);
  parts_[vertex] = to;
}

Index Refiner::pass(const Affinity& affinity, std::uint64_t seed) {
  counts_.set_affinity(affinity);
  const auto chunks = shuffled((h_.num_vertices() + chunk - 1) / chunk, Random(seed, shuffle_stream));
  const Index batch = chunks_of_batch(std::ssize(chunks));
  std::vector<Proposal> proposals;
  std::vector<Scratch> scratch(std::size_t(num_threads()), Scratch(counts_.width()));
  Index moved = 0;
  for (Index first = 0; first < std::ssize(chunks); first += batch) {
    const Index count = std::min<Index>(batch, std::ssize(chunks) - first);
    proposals.assign(std::size_t(count * chunk), {});
    parallel_parts(count, [&](Index begin, Index end, int thread) {
      for (Index c = begin; c < end; ++c) {
        const Index from = Index(chunks[first + c]) * chunk, to = std::min(from + chunk, h_.num_vertices());
        for (Index v = from; v < to; ++v)
          proposals[c * chunk + v - from] = propose(v, Wish::gain, scratch[thread]);
      }
    });
    for (const auto& proposal : proposals)
      if (is_wanted(proposal)) {
        move(proposal.vertex, proposal.part);
        ++moved;
      }
  }
  return moved;
}

bool Refiner::rebalance() {
  if (is_balanced()) return true;
  counts_.set_affinity(Affinity::exact());
  Scratch scratch(counts_.width());
  std::vector<Proposal> leavers;
  for (Index v = 0; v < h_.num_vertices(); ++v)
    if (balance_.is_overloaded(parts_[v])) leavers.push_back(propose(v, Wish::leave, scratch));
  std::ranges::stable_sort(leavers, std::ranges::greater{}, &Proposal::gain);
  for (const auto& leaver : leavers) {
    if (!balance_.is_overloaded(parts_[leaver.vertex])) continue;
    const auto now = leaver.part >= 0 && balance_.fits(leaver.vertex, leaver.part)
                         ? leaver
                         : propose(leaver.vertex, Wish::leave, scratch);
    if (now.part >= 0) move(now.vertex, now.part);
  }
  return is_balanced();
}

bool Refiner::is_balanced() const {
  for (int part = 0; part < num_parts_; ++part)
    if (balance_.is_overloaded(part)) return false;
  return true;
}

}  // namespace polyad
